import { describeScenes } from "./scenes.ts";

describeScenes("budgets");
