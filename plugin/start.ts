#!/usr/bin/env node
// The program as it is shipped begins here: what V8 compiled for earlier calls is there before the program is.
import { fileURLToPath } from "node:url";
import { enableCodeCache } from "./kubernetes/code-cache.ts";
import { loadKeptScript } from "./kubernetes/kept-script.ts";

/** Of scripts/bundle.ts: the bundle of main.ts, from here, and how that loads Node's modules and those parts that few calls need. */
declare const bundled: { readonly program: string; readonly loaders: readonly unknown[] };

const path = fileURLToPath(new URL(bundled.program, import.meta.url));
const program = loadKeptScript({ path, folder: enableCodeCache(process.env), argv: process.argv.slice(2) });
if (typeof program !== "function") throw new TypeError(`${path} is no program`);
program(path, ...bundled.loaders);
