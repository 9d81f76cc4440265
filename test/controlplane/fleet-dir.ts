import {
	accessSync,
	constants,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { writePluginLauncher } from "../../demo/machine/plugin-launcher.ts";
import { codeOf, messageOf, SetupError } from "../../demo/machine/setup-error.ts";
import type { Binaries } from "./binaries.ts";
import { isClaimed } from "./octet.ts";

const stateFile = "fleet.json";
const ownEntries = /^(c\d+|bin|kubeconfig|demo\.yaml|ready|fleet-ca\.crt|fleet\.json)$/;

/** A fleet writes this to its folder, for a later fleet in the same folder. */
export type FleetState = {
	readonly pid: number;
	readonly octet: number;
	readonly clusters: readonly {
		readonly name: string;
		readonly id: string;
		readonly address: string;
		readonly dir: string;
	}[];
};

/**
 * Creates the folder, or removes an earlier fleet's entries from it and keeps all others. Throws if the folder cannot be written, if
 * entries with a fleet's names come from no fleet, or if the earlier fleet still runs.
 */
export async function prepareFleetDir(dir: string): Promise<void> {
	try {
		makeFolder(dir);
		accessSync(dir, constants.W_OK);
	} catch (error) {
		throw unusable(dir, messageOf(error), error);
	}
	if (!statSync(dir).isDirectory()) {
		throw unusable(dir, "it is not a folder");
	}
	const ours = readdirSync(dir).filter((entry) => ownEntries.test(entry));
	if (ours.length === 0) {
		return;
	}
	const state = readFleetState(dir);
	if (state === undefined) {
		throw new SetupError(`Cannot start a fleet in "${dir}": it has "${ours[0]}", which no fleet put there`, {
			hint: "Give an empty or a new folder with --dir",
		});
	}
	if (isAlive(state.pid) && (await isClaimed(state.octet))) {
		throw new SetupError(`Cannot start a fleet in "${dir}": another one runs there, as process ${state.pid}`, {
			hint: "Stop it, or give another folder with --dir",
		});
	}
	for (const entry of ours) {
		rmSync(join(dir, entry), { recursive: true, force: true });
	}
}

function unusable(dir: string, why: string, cause?: unknown): SetupError {
	return new SetupError(`Cannot write to the folder "${dir}": ${why}`, { hint: "Give another with --dir", cause });
}

// Node's recursive mkdir never returns for a path such as /proc/x.
function makeFolder(dir: string): void {
	if (!existsSync(dir)) {
		makeFolder(dirname(dir));
		mkdirSync(dir);
	}
}

// A zombie process keeps its id, so callers also check whether its octet is claimed. Node's kill() takes 0 and negative numbers as groups of
// processes: -1 means all processes, and succeeds.
function isAlive(pid: number): boolean {
	if (!Number.isSafeInteger(pid) || pid <= 0) return false;
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return codeOf(error) === "EPERM";
	}
}

export function readFleetState(dir: string): FleetState | undefined {
	const path = join(dir, stateFile);
	if (!existsSync(path)) {
		return undefined;
	}
	try {
		return JSON.parse(readFileSync(path, "utf8")) as FleetState;
	} catch {
		// A hard kill cut off the file. No process has this id.
		return { pid: -1, octet: 0, clusters: [] };
	}
}

export function writeFleetState(dir: string, state: FleetState): void {
	writeFileSync(join(dir, stateFile), `${JSON.stringify(state, undefined, "\t")}\n`);
}

/** Fills DIR/bin with kubectl and the plugin, for the PATH. */
export function writePrograms(dir: string, binaries: Binaries, programs: string): void {
	const bin = writePluginLauncher(dir, join(programs, "kubectl-xpdb.js"));
	symlinkSync(binaries.kubectl, join(bin, "kubectl"));
}
