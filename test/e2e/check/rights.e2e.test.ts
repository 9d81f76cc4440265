import { describeScenes } from "./scenes.ts";

// Each scene is about the rights of another person, or has its own namespace.
describeScenes("rights", { concurrent: true });
