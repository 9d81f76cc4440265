// Implements --report FILE: draws the run from the lines of -o json, and writes the file when the run ends.
import { randomUUID } from "node:crypto";
import { closeSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { EventSink } from "../events/events.ts";
import { errorText } from "../kubernetes/api-error.ts";
import { createNdjsonWriter, type NdjsonOptions } from "../output/ndjson.ts";
import { page } from "../picture/page.ts";
import { readRecordedEvent } from "../picture/recorded-event.ts";
import { PictureFold } from "../picture/run-picture.ts";
import { UsageError } from "../terminal/errors.ts";

export interface PictureFile {
	readonly see: EventSink;
	/** Synchronous, because the process may be about to exit. Throws the file system's error and leaves the old file. */
	write(): void;
	discard(): void;
}

/** Throws UsageError if the file cannot be written, so that the user learns this before the run. */
export function openPictureFile(path: string, options: Omit<NdjsonOptions, "stdout">): PictureFile {
	const target = followLink(path);
	const part = `${target}.${randomUUID().slice(0, 8)}.part`;
	const fold = new PictureFold();
	const stdout = { write: (line: string) => fold.see(readRecordedEvent(line, "the run")) };
	try {
		const found = statSync(path, { throwIfNoEntry: false });
		if (found?.isDirectory()) throw new Error("it is a directory");
		// The report would replace a device, pipe or socket, and a pipe's reader would wait forever.
		if (found && !found.isFile()) throw new Error("it is a device, a pipe or a socket, but the report must be a file");
		closeSync(openSync(part, "wx"));
	} catch (error) {
		const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
		const why = isMissing ? `directory ${dirname(target)} does not exist` : errorText(error);
		throw new UsageError(`cannot write the report to "${path}": ${why}`);
	}
	const discard = (): void => rmSync(part, { force: true });
	return {
		see: createNdjsonWriter({ ...options, stdout }),
		discard,
		write() {
			try {
				const picture = fold.picture();
				if (!picture) return discard();
				writeFileSync(part, page(picture));
				renameSync(part, target);
			} catch (error) {
				discard();
				throw error;
			}
		},
	};
}

/** Follows a link, so that the link itself is kept. */
function followLink(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		// The file does not exist yet.
		return path;
	}
}
