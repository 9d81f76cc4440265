// Builds what the tests need of Go programs where it is missing: a step of `npm test` of its own, so that its minutes are not
// a test's. With --oldest instead the oldest Kubernetes, beside the steps that need none. Exit code 3: there is no way to have
// them here, and the reason is printed.
import { constants, setPriority } from "node:os";
import { SetupError } from "../../demo/machine/setup-error.ts";
import { findOrBuildBinaries } from "./binaries.ts";
import { ProgramsUnavailableError } from "./fleet-errors.ts";
import { fluxPrograms, helmPrograms, krewPrograms, oldestControlPlane } from "./go-programs.ts";
import { findOrBuildPrograms } from "./program-cache.ts";

const log = (line: string) => console.log(line);
const isOldest = process.argv.includes("--oldest");
try {
	if (isOldest) setPriority(constants.priority.PRIORITY_LOW);
	else await findOrBuildBinaries({ log });
	for (const programs of isOldest ? [oldestControlPlane] : [krewPrograms, helmPrograms, fluxPrograms])
		await findOrBuildPrograms(programs, { log });
} catch (error) {
	if (!(error instanceof SetupError)) throw error;
	console.log(error.message);
	if (error.hint) console.log(error.hint);
	process.exitCode = error instanceof ProgramsUnavailableError ? 3 : 1;
}
