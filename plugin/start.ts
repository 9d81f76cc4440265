#!/usr/bin/env node
// The program as it is shipped begins here: what V8 compiled for an earlier call is there before the first module is.
import { enableCodeCache } from "./kubernetes/code-cache.ts";

enableCodeCache(process.env);
await import("./main.ts");
