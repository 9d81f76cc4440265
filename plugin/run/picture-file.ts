// --report FILE: the picture of the run, made from the very lines that -o json prints, and written when its summary is known.
import { randomUUID } from "node:crypto";
import { closeSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { EventSink } from "../events/events.ts";
import { errorText } from "../kubernetes/api-error.ts";
import { createNdjsonWriter, type NdjsonOptions } from "../output/ndjson.ts";
import { page } from "../picture/page.ts";
import { readRecordedEvent } from "../picture/recorded-event.ts";
import { PictureFold } from "../picture/run-picture.ts";
import { UsageError } from "../terminal/errors.ts";

export interface PictureFile {
	readonly see: EventSink;
	/** All at once, also where the process leaves in a moment. Throws what the file system says; the file is then as it was before. */
	write(): void;
	/** Where nothing was to be drawn. */
	discard(): void;
}

/** Throws UsageError where nothing can be written there: that is told before anything is touched, not after the run. */
export function openPictureFile(path: string, options: Omit<NdjsonOptions, "stdout">): PictureFile {
	const target = followLink(path);
	const part = `${target}.${randomUUID().slice(0, 8)}.part`;
	const fold = new PictureFold();
	const stdout = { write: (line: string) => fold.see(readRecordedEvent(line, "the run")) };
	try {
		const found = statSync(path, { throwIfNoEntry: false });
		if (found?.isDirectory()) throw new Error("it is a directory");
		// A file would replace it, and its reader would wait for ever.
		if (found && !found.isFile()) throw new Error("it is a device, a pipe or a socket, but the report must be a file");
		closeSync(openSync(part, "wx"));
	} catch (error) {
		throw new UsageError(`cannot write the report to "${path}": ${errorText(error)}`);
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

/** The file that a link leads to: the link stays. */
function followLink(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		// Not there yet.
		return path;
	}
}
