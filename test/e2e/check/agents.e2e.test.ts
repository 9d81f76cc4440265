import { describeScenes } from "./scenes.ts";

describeScenes("agents");
