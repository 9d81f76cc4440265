#!/usr/bin/env node
// The entry point of the bundled plugin. It starts the program with the code that V8 compiled in earlier runs.
import { fileURLToPath } from "node:url";
import { enableCodeCache } from "./kubernetes/code-cache.ts";
import { loadKeptScript } from "./kubernetes/kept-script.ts";

/**
 * Set by scripts/bundle.ts: the path of main.ts's bundle, relative to this file, and functions that load Node's modules and rarely needed
 * parts.
 */
declare const bundled: { readonly program: string; readonly loaders: readonly unknown[] };

const path = fileURLToPath(new URL(bundled.program, import.meta.url));
const program = loadKeptScript({ path, folder: enableCodeCache(process.env), argv: process.argv.slice(2) });
if (typeof program !== "function") throw new TypeError(`${path} is not a program`);
program(path, ...bundled.loaders);
