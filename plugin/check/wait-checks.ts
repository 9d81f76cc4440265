// Repeats all checks until nothing is left to fix, waiting does not help, or the timeout is reached. The result is that of the last round,
// so that users never act on an outdated finding.
import { exitCode } from "../terminal/exit.ts";
import { type CheckReason, factsOf } from "./check-reason.ts";
import { type CheckFinding, type CheckRow, outcomeOf } from "./check-report.ts";

export interface ChecksWait {
	readonly check: () => Promise<readonly CheckRow[]>;
	readonly failOnWarning: boolean;
	/** The findings worth waiting for. Any other finding that must be fixed ends the wait. Left out: waits for all findings. */
	readonly onlyFor?: ReadonlySet<CheckReason> | undefined;
	readonly timeoutMs: number;
	/** Monotonic. */
	readonly now: () => number;
	readonly pause: (ms: number) => Promise<void>;
	/** Called with the findings that must be fixed: when they change, once a minute, and at the timeout. */
	readonly tell: (line: string) => void;
}

/** Findings that pass by themselves while agents are replaced or find each other, for example in an upgrade during a drain. */
export const passing: ReadonlySet<CheckReason> = new Set(["NoAgents", "AgentSilent", "PeerUnreachable", "NotChecked"]);

const pauseMs = 2_000;
const heartbeatMs = 60_000;

/** Returns the rows of the last round, which begins at the timeout at the latest. */
export async function waitForChecks(wait: ChecksWait): Promise<readonly CheckRow[]> {
	const { failOnWarning, onlyFor, timeoutMs, now, tell } = wait;
	const beganAt = now();
	const told = { text: "", at: beganAt };
	for (;;) {
		const rows = await wait.check();
		if (outcomeOf(rows, failOnWarning).exitCode === exitCode.done) return rows;
		const missing = missingOf(rows, failOnWarning);
		if (onlyFor && missing.some(({ reason }) => !onlyFor.has(reason))) return rows;
		const leftMs = beganAt + timeoutMs - now();
		const text = missingText(missing);
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

function missingOf(rows: readonly CheckRow[], failOnWarning: boolean): readonly CheckFinding[] {
	return rows.flatMap(({ isNeeded, findings }) =>
		findings.filter(({ result }) => failOnWarning || result === "failed" || (isNeeded && result === "unknown")),
	);
}

/** Returns, for example, "XPDB1311 in eu, XPDB1312 in eu". */
function missingText(missing: readonly CheckFinding[]): string {
	const places = missing.map(
		({ reason, cluster }) => `${factsOf(reason).code}${cluster === "" ? "" : ` in ${cluster}`}`,
	);
	const each = [...new Set(places)];
	const shown = each.slice(0, mostShown);
	return `${shown.join(", ")}${each.length > shown.length ? ` and ${each.length - shown.length} more` : ""}`;
}

const mostShown = 5;
