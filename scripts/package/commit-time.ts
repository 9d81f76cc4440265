import { runCommand } from "../run-command.ts";

/**
 * Returns the time of the commit in seconds since 1970, so that files made from the same commit get the same times. SOURCE_DATE_EPOCH has
 * priority.
 */
export async function commitTime(): Promise<number> {
	const { output } = await runCommand(["git", "log", "-1", "--format=%ct"]);
	return Number(process.env["SOURCE_DATE_EPOCH"] ?? (Number.parseInt(output, 10) || 0));
}
