import { describeScenes } from "./scenes.ts";

describeScenes("rights");
