// Reads a run that was recorded with -o json, line by line.
import { LineSplitter } from "../../proto/line-splitter.ts";
import { errorText } from "../kubernetes/api-error.ts";
import { UsageError } from "../terminal/errors.ts";
import { checkSchema, readRecordedEvent } from "./recorded-event.ts";
import { PictureFold, type RunPicture } from "./run-picture.ts";

/** Throws UsageError if the file cannot be read or has other content. A last line that was cut off is left out. */
export async function readRecord(chunks: AsyncIterable<Buffer>, path: string): Promise<RunPicture> {
	const fold = new PictureFold();
	let lines = 0;
	const splitter = new LineSplitter((line) => {
		lines += 1;
		if (line.trim() === "") return;
		const place = `${path}:${lines}`;
		const event = readRecordedEvent(line, place);
		if (lines === 1) checkSchema(event, place);
		fold.see(event);
	});
	try {
		for await (const chunk of chunks) splitter.push(chunk);
	} catch (error) {
		if (error instanceof UsageError) throw error;
		throw new UsageError(`cannot read "${path}": ${errorText(error)}`);
	}
	const picture = fold.picture();
	if (!picture)
		throw new UsageError(`${path} holds no events`, "Record a run with: kubectl xpdb drain ... -o json > run.ndjson");
	return picture;
}
