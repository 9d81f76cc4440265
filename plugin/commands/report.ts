// Implements `kubectl xpdb report`: makes a page of a recorded run.
import { createReadStream } from "node:fs";
import type { CommandRunner } from "../flags/command.ts";
import { page } from "../picture/page.ts";
import { readRecord } from "../picture/read-record.ts";
import { UsageError } from "../terminal/errors.ts";
import { exitCode } from "../terminal/exit.ts";

export const runReport: CommandRunner = async ({ words }, { streams }) => {
	const [path = "", ...more] = words;
	if (path === "" || more.length > 0) {
		throw new UsageError(
			"exactly one file with recorded events is required",
			"See 'kubectl xpdb report --help' for usage.",
		);
	}
	if (streams.stdout.columns !== undefined) {
		throw new UsageError("a page is for a browser, not for a terminal", `kubectl xpdb report ${path} > run.html`);
	}
	const picture = await readRecord(createReadStream(path), path);
	if (!picture.summary) streams.stderr.write(`Warning: ${path} ends before the run did\n`);
	streams.stdout.write(page(picture));
	return exitCode.done;
};
