import { describeScenes } from "./scenes.ts";

// Concurrent, because each scene is about another user or namespace.
describeScenes("rights", { concurrent: true });
