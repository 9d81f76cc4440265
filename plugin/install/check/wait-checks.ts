// `kubectl xpdb check --wait`: all checks again and again until nothing is left that has to be put right. What is said at the end is what
// the last round found, so that nobody goes by an answer that has been overtaken.
import { exitCode } from "../../terminal/exit.ts";
import { factsOf } from "./check-reason.ts";
import { type CheckRow, outcomeOf } from "./check-report.ts";

export interface ChecksWait {
	/** All checks once. */
	readonly check: () => Promise<readonly CheckRow[]>;
	readonly failOnWarning: boolean;
	readonly timeoutMs: number;
	/** Monotonic. */
	readonly now: () => number;
	readonly pause: (ms: number) => Promise<void>;
	/** What it waits for, when that changes and once a minute. */
	readonly tell: (line: string) => void;
}

const pauseMs = 2_000;
const heartbeatMs = 60_000;

/** The rows of the last round: of one that began in time. */
export async function waitForChecks(wait: ChecksWait): Promise<readonly CheckRow[]> {
	const { failOnWarning, timeoutMs, now, tell } = wait;
	const beganAt = now();
	const told = { text: "", at: beganAt };
	for (;;) {
		const rows = await wait.check();
		if (outcomeOf(rows, failOnWarning).exitCode === exitCode.done) return rows;
		const leftMs = beganAt + timeoutMs - now();
		const text = missingText(rows, failOnWarning);
		if (leftMs <= 0) {
			tell(`Not all is well after ${Math.round(timeoutMs / 1_000)} s: ${text}`);
			return rows;
		}
		if (text !== told.text || now() - told.at >= heartbeatMs) {
			tell(`Waiting: ${text}`);
			Object.assign(told, { text, at: now() });
		}
		await wait.pause(Math.min(pauseMs, leftMs));
	}
}

/** "XPDB1311 in eu, XPDB1312 in eu". */
function missingText(rows: readonly CheckRow[], failOnWarning: boolean): string {
	const keepsWaiting = ({ isNeeded }: CheckRow, result: string): boolean =>
		failOnWarning || result === "failed" || (isNeeded && result === "unknown");
	const places = rows.flatMap((row) =>
		row.findings
			.filter(({ result }) => keepsWaiting(row, result))
			.map(({ reason, cluster }) => `${factsOf(reason).code}${cluster === "" ? "" : ` in ${cluster}`}`),
	);
	const each = [...new Set(places)];
	const shown = each.slice(0, mostShown);
	return `${shown.join(", ")}${each.length > shown.length ? ` and ${each.length - shown.length} more` : ""}`;
}

const mostShown = 5;
