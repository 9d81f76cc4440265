// Keeps object names between completions, because starting the plugin and asking the cluster take longer than a user waits.
//
// Guarantee: the files contain only object names and times, in a folder that no other user can enter. Names are used for one minute, and
// the next write removes older files. Each server, user and impersonation has its own names, so no login sees another's. With an exec
// plugin, nothing is kept, because the plugin's environment and files decide who the user is. The names are only offered as completions.
import { lstatSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { User } from "@kubernetes/client-node";
import { isRecord } from "../../disruption/record.ts";
import { findCacheFolder } from "./cache-folder.ts";
import type { Connection } from "./connection.ts";
import { readFileText } from "./file-text.ts";
import { createKeptNote } from "./kept-note.ts";
import { text } from "./kubeconfig-entry.ts";
import { isName } from "./object-name.ts";
import { findPrivateFolder, privateMode } from "./private-folder.ts";

const keptMs = 60_000;
/** Minimum time between two background requests to one server. */
const betweenRequestsMs = 10_000;
const folderName = "names";

export interface KeptNames {
	read(list: string): readonly string[] | undefined;
	write(list: string, names: readonly string[]): void;
	isDue(list: string): boolean;
	noteRequest(): void;
}

export function createKeptNames(
	env: NodeJS.ProcessEnv,
	{ server, cluster, user, exec, headers }: Connection,
	now: () => number = Date.now,
): KeptNames {
	const folder = exec === undefined ? findPrivateFolder(env, folderName) : undefined;
	const login = JSON.stringify([cluster, user, identityFiles(user).map(readFileText), headers]);
	const names = (list: string) => createKeptNote(folder, [server, login, list], privateMode);
	const lastRequest = createKeptNote(folder, [server, "request"], privateMode);
	const isWithin = (at: unknown, ms: number): boolean => typeof at === "number" && at <= now() && now() - at < ms;
	const read = (list: string, ms: number): readonly string[] | undefined => {
		const kept = names(list).read();
		if (!isRecord(kept) || !isWithin(kept["at"], ms) || !Array.isArray(kept["names"])) return undefined;
		return kept["names"].filter(isName);
	};
	return {
		read: (list) => read(list, keptMs),
		write(list, values) {
			if (folder === undefined) return;
			removeOld(folder, now());
			names(list).write({ at: now(), names: values.filter(isName) });
		},
		isDue(list) {
			const isRecent = isWithin(lastRequest.read(), betweenRequestsMs);
			return folder !== undefined && !isRecent && read(list, betweenRequestsMs) === undefined;
		},
		noteRequest: () => lastRequest.write(now()),
	};
}

function identityFiles({ certFile, authProvider }: User): readonly string[] {
	const config: unknown = isRecord(authProvider) ? authProvider["config"] : undefined;
	return [certFile, isRecord(config) ? config["tokenFile"] : undefined].map(text).filter((path) => path !== "");
}

/** Returns the folder if there was one. */
export function removeKeptNames(env: NodeJS.ProcessEnv): string | undefined {
	const cache = findCacheFolder(env);
	const folder = cache === undefined ? undefined : join(cache, folderName);
	if (folder === undefined || statSync(folder, { throwIfNoEntry: false }) === undefined) return undefined;
	rmSync(folder, { recursive: true, force: true });
	return folder;
}

/** Removes only files that are named like a kept note. */
function removeOld(folder: string, now: number): void {
	try {
		for (const name of readdirSync(folder)) {
			if (!/^[0-9a-f]{32}\.json(\.\d+\.part)?$/.test(name)) continue;
			const file = join(folder, name);
			const age = now - (lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now);
			if (age > keptMs) rmSync(file, { force: true });
		}
	} catch {
		// The folder is not writable, or another completion has removed the same files.
	}
}
