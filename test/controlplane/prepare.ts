// Builds what the tests need of Go programs where it is missing: a step of `npm test` of its own, so that its minutes are not
// a test's. Exit code 3: there is no way to have the control plane here, and the reason is printed.
import { SetupError } from "../../demo/machine/setup-error.ts";
import { findOrBuildBinaries } from "./binaries.ts";
import { ProgramsUnavailableError } from "./fleet-errors.ts";
import { helmPrograms, krewPrograms } from "./go-programs.ts";
import { findOrBuildPrograms } from "./program-cache.ts";

const log = (line: string) => console.log(line);
try {
	await findOrBuildBinaries({ log });
	for (const programs of [krewPrograms, helmPrograms]) await findOrBuildPrograms(programs, { log });
} catch (error) {
	if (!(error instanceof SetupError)) throw error;
	console.log(error.message);
	if (error.hint) console.log(error.hint);
	process.exitCode = error instanceof ProgramsUnavailableError ? 3 : 1;
}
