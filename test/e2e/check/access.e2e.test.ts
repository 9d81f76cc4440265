import { describeScenes } from "./scenes.ts";

describeScenes("access");
