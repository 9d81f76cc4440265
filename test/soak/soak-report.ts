// Formats the output of a soak: a line each minute, and the result at the end.
import type { SoakResult, SoakState } from "./soak.ts";

export function minuteLine(state: SoakState): string {
	const { verdicts, tally, faults, agentMemoryMb } = state;
	const evictions = verdicts.reduce((sum, verdict) => sum + verdict.evictions, 0);
	const violations = verdicts.reduce((sum, verdict) => sum + verdict.violations.length, state.evictedPrimaries.length);
	return [
		`${formatMinutes(state.seconds)}: ${evictions} evictions`,
		`${tally.refusals} refusals`,
		`room left ${verdicts.map(({ workload, deepest }) => `${workload} ${deepest}`).join(" ")}`,
		`${violations} violations`,
		`${faults.length} faults`,
		`longest recovery ${formatRecovery(state)}`,
		`agents ${Math.max(0, ...agentMemoryMb).toFixed(0)} MB`,
	].join(", ");
}

/** Faults last up to 20 s, and leases 10 s. A fleet without an eviction for a minute is stuck. */
const longestPauseSeconds = 60;

/**
 * Returns whether the soak succeeded, and its report. It fails after a violation, a leak, a crash of the plugin or a long pause of
 * evictions, or if nothing was evicted.
 */
export function finalReport(result: SoakResult): { readonly held: boolean; readonly lines: readonly string[] } {
	const { verdicts, tally, faults, leaks, evictedPrimaries } = result;
	const violations = verdicts.flatMap(({ workload, violations: found }) =>
		found.map(({ at, cluster, pod, healthy }) => {
			const time = new Date(at / 1000).toISOString();
			return `violation: ${workload}: ${time} eviction of ${pod} in ${cluster} left ${healthy} healthy`;
		}),
	);
	const unrecovered = faults.filter(({ recoverySeconds }) => recoverySeconds === undefined).length;
	const evictions = verdicts.reduce((sum, verdict) => sum + verdict.evictions, 0);
	const isStuck = result.longestPauseSeconds > longestPauseSeconds;
	const wrong = [...violations, ...evictedPrimaries.map((line) => `violation: ${line}`)];
	const held = wrong.length + leaks.length + tally.crashes.length === 0 && evictions > 0 && !isStuck;
	const runs = [...tally.runs].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([ending, count]) => `${ending}: ${count}`);
	return {
		held,
		lines: [
			"",
			`evictions         ${evictions} (${verdicts.map((verdict) => `${verdict.workload} ${verdict.evictions}`).join(", ")})`,
			`refusals          ${tally.refusals}`,
			`deepest dip       ${verdicts.map(({ workload, deepest }) => `${workload}: ${dip(deepest)}`).join(", ")}`,
			`violations        ${wrong.length}`,
			`faults survived   ${faults.length}`,
			`longest recovery  ${formatRecovery(result)}${unrecovered > 0 ? ` (${unrecovered} faults at the end without an eviction after them)` : ""}`,
			`longest pause     ${result.longestPauseSeconds.toFixed(1)} s without an eviction`,
			`leaks             ${leaks.length}`,
			`agents            ${result.agentMemoryMb.map((megabytes) => megabytes.toFixed(0)).join(", ")} MB`,
			`plugin runs       ${runs.join(", ")}`,
			...wrong,
			...leaks.map((leak) => `leak: ${leak}`),
			...tally.crashes.map((crash) => `crash: ${crash}`),
			...(evictions === 0 ? ["nothing was evicted: this run shows nothing"] : []),
			...(isStuck ? [`stuck: nothing was evicted for more than ${longestPauseSeconds} s`] : []),
			"",
			`soak: ${held ? "held" : "FAILED"} for ${formatMinutes(result.seconds)}`,
		],
	};
}

function dip(room: number): string {
	return room < 0
		? `${-room} below its budget`
		: room === 0
			? "its budget used up, never below"
			: `${room} above its budget`;
}

function formatRecovery({ faults }: SoakState): string {
	const times = faults.flatMap(({ recoverySeconds, name }) =>
		recoverySeconds === undefined ? [] : [{ recoverySeconds, name }],
	);
	const [longest] = times.toSorted((a, b) => b.recoverySeconds - a.recoverySeconds);
	return longest ? `${longest.recoverySeconds.toFixed(1)} s after "${longest.name}"` : "none yet";
}

function formatMinutes(seconds: number): string {
	return `${Math.floor(seconds / 60)} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s`;
}
