// Reads files of earlier calls, and checks that no other user can have written them.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";

/** The largest such file is the plugin's compiled code, about 10 MB. */
const largestBytes = 64 * 1024 * 1024;

/** Throws if the file is missing, not regular, too large, owned by another user, or writable by others. Never blocks on a named pipe. */
export function readOwnFile(path: string): Buffer {
	// A link may lead to a file that others can write. Windows lacks the last two flags, and undefined adds nothing.
	const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
	const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
	try {
		const found = fstatSync(file);
		if (!found.isFile() || !isOurs(found) || found.size > largestBytes) throw new TypeError(`${path} is not ours`);
		return readFileSync(file);
	} finally {
		closeSync(file);
	}
}

export function isOwnFolder(path: string): boolean {
	const found = lstatSync(path, { throwIfNoEntry: false });
	return found?.isDirectory() === true && isOurs(found, 0o077);
}

/** Windows reports neither owner nor permissions, so every file passes there. */
function isOurs({ uid, mode }: Stats, forbidden = 0o022): boolean {
	return process.getuid === undefined || (uid === process.getuid() && (mode & forbidden) === 0);
}
