// Loaded into a process by `node --import`: XPDB_OTHER_PROGRAM runs in the place of the program that it was started with. See
// otherProgram() in program-fault.ts.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const url = pathToFileURL(process.env["XPDB_OTHER_PROGRAM"] ?? "").href;
const started = pathToFileURL(process.argv[1] ?? "").href;

registerHooks({
	resolve: (specifier, context, next) =>
		specifier === started ? { url, format: "module", shortCircuit: true } : next(specifier, context),
});
