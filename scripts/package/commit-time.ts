import { runCommand } from "../run-command.ts";

/** Seconds since 1970, so that what is made of one commit does not differ by its times; SOURCE_DATE_EPOCH wins. */
export async function commitTime(): Promise<number> {
	const { output } = await runCommand(["git", "log", "-1", "--format=%ct"]);
	return Number(process.env["SOURCE_DATE_EPOCH"] ?? (Number.parseInt(output, 10) || 0));
}
