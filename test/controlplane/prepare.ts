// Builds the Go programs of a control plane, and those named as arguments, if they are missing. `npm test` runs this file as a separate
// step, so that no test's time includes the build. Exit code 3 means that the programs are not available here.
import { SetupError } from "../../demo/machine/setup-error.ts";
import { findOrBuildBinaries } from "./binaries.ts";
import { ProgramsUnavailableError } from "./fleet-errors.ts";
import { fluxPrograms, type GoPrograms, helmPrograms, krewPrograms, oldestControlPlane } from "./go-programs.ts";
import { findOrBuildPrograms } from "./program-cache.ts";

const byName: Readonly<Record<string, GoPrograms>> = {
	oldest: oldestControlPlane,
	krew: krewPrograms,
	helm: helmPrograms,
	flux: fluxPrograms,
};
const log = (line: string) => console.log(line);
try {
	await findOrBuildBinaries({ log });
	for (const name of process.argv.slice(2)) {
		const programs = byName[name];
		if (programs === undefined) throw new SetupError(`No programs are called "${name}"`);
		await findOrBuildPrograms(programs, { log });
	}
} catch (error) {
	if (!(error instanceof SetupError)) throw error;
	console.log(error.message);
	if (error.hint) console.log(error.hint);
	process.exitCode = error instanceof ProgramsUnavailableError ? 3 : 1;
}
