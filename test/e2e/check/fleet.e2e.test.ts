import { describeScenes } from "./scenes.ts";

describeScenes("fleet");
