import { describeScenes } from "./scenes.ts";

// Each is about rights of somebody else, or a namespace of its own.
describeScenes("rights", { concurrent: true });
