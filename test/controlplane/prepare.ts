// Builds the control plane's programs where they are missing: a step of `npm test` of its own, so that its minutes are not
// a test's. Exit code 3: there is no way to have them here, and the reason is printed.
import { SetupError } from "../../demo/machine/setup-error.ts";
import { findOrBuildBinaries } from "./binaries.ts";
import { ControlPlaneUnavailableError } from "./fleet-errors.ts";

try {
	await findOrBuildBinaries({ log: (line) => console.log(line) });
} catch (error) {
	if (!(error instanceof SetupError)) throw error;
	console.log(error.message);
	if (error.hint) console.log(error.hint);
	process.exitCode = error instanceof ControlPlaneUnavailableError ? 3 : 1;
}
