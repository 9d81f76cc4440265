// Reads files of earlier calls that no other user can have written.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from "node:fs";

/** The largest such file is the compiled code of the program, about 10 MB. */
const largestBytes = 64 * 1024 * 1024;

/**
 * Throws if there is no file, or if it is not a regular file, is too large, belongs to another user, or is writable by others. Never blocks
 * on a named pipe.
 */
export function readOwnFile(path: string): Buffer {
	// Do not follow a link: it may lead to a place where others can write. Windows lacks the last two flags: undefined adds nothing here.
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

/** Whether the path is a folder that only this user can access, so that no other user can have put anything into it. */
export function isOwnFolder(path: string): boolean {
	const found = lstatSync(path, { throwIfNoEntry: false });
	return found?.isDirectory() === true && isOurs(found, 0o077);
}

/** Windows reports neither the owner nor who may write, so every file passes there. */
function isOurs({ uid, mode }: Stats, forbidden = 0o022): boolean {
	return process.getuid === undefined || (uid === process.getuid() && (mode & forbidden) === 0);
}
