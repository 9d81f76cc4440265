import { describeScenes } from "./scenes.ts";

describeScenes("installation");
