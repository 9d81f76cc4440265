// Loaded with `node --import`: runs XPDB_OTHER_PROGRAM instead of the program that the process was started with (see program-fault.ts).
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const url = pathToFileURL(process.env["XPDB_OTHER_PROGRAM"] ?? "").href;
const started = pathToFileURL(process.argv[1] ?? "").href;

registerHooks({
	resolve: (specifier, context, next) =>
		specifier === started ? { url, format: "module", shortCircuit: true } : next(specifier, context),
});
