import { describe, expect, test } from "vitest";
import type { CheckReason } from "../../../plugin/check/check-reason.ts";
import { type CheckRow, checkRow } from "../../../plugin/check/check-report.ts";
import { type ChecksWait, passing, waitForChecks } from "../../../plugin/check/wait-checks.ts";

const agents = { category: "agents", title: "agents are ready, two or more", isNeeded: true } as const;

function found(...reasons: readonly CheckReason[]): readonly CheckRow[] {
	const findings = reasons.map((reason) => ({ reason, message: "so it is" }));
	return [checkRow(agents, ["eu"], () => ({ text: "2/2", findings }))];
}

/** Waits with these rounds of findings. The last one repeats. Only pauses move the clock. */
async function waited(
	rounds: readonly (readonly CheckRow[])[],
	options: Partial<Pick<ChecksWait, "failOnWarning" | "timeoutMs" | "onlyFor">> = {},
) {
	const told: string[] = [];
	const state = { nowMs: 0, round: 0 };
	const rows = await waitForChecks({
		failOnWarning: false,
		timeoutMs: 300_000,
		...options,
		check: async () => rounds[Math.min(state.round++, rounds.length - 1)] ?? [],
		now: () => state.nowMs,
		pause: async (ms) => void (state.nowMs += ms),
		tell: (line) => void told.push(line),
	});
	return { rows, told, ...state };
}

describe("waitForChecks()", () => {
	test("ends at once, and says nothing, where nothing has to be put right", async () => {
		const well = found("SingleAgent");
		expect(await waited([well])).toEqual({ rows: well, told: [], nowMs: 0, round: 1 });
	});

	test("checks again until that is so, and tells what it waits for when it changes", async () => {
		const well = found();
		const { rows, told, round } = await waited([
			found("NoAgents", "SingleAgent"),
			found("NoAgents"),
			found("AgentSilent"),
			well,
		]);
		expect(rows).toBe(well);
		expect(told).toEqual(["Waiting: XPDB1311 in eu", "Waiting: XPDB1312 in eu"]);
		expect(round).toBe(4);
	});

	test("waits for what passes by itself, and ends at once where anything else has to be put right", async () => {
		const well = found();
		const replaced = found("NoAgents", "AgentSilent", "PeerUnreachable", "NotChecked");
		expect(await waited([replaced, well], { onlyFor: passing })).toMatchObject({ rows: well, round: 2 });
		for (const reason of ["FleetsDiffer", "ReachRightMissing", "VersionsApart"] as const) {
			const rows = found("AgentSilent", reason);
			expect(await waited([rows, well], { onlyFor: passing })).toEqual({ rows, told: [], nowMs: 0, round: 1 });
		}
	});

	test("waits for warnings too where they count as failures", async () => {
		const { told } = await waited([found("SingleAgent"), found()], { failOnWarning: true });
		expect(told).toEqual(["Waiting: XPDB1313 in eu"]);
	});

	test("gives what the last round found when the time is over, after a round that begins at its end", async () => {
		const last = found("NoAgents");
		const { rows, told, nowMs, round } = await waited([last], { timeoutMs: 5_000 });
		expect(rows).toBe(last);
		expect(told).toEqual(["Waiting: XPDB1311 in eu", "Not all is well after 5 s: XPDB1311 in eu"]);
		expect([nowMs, round]).toEqual([5_000, 4]);
	});

	test("tells the same again once a minute", async () => {
		const { told } = await waited([found("NoAgents")], { timeoutMs: 130_000 });
		expect(told.filter((line) => line.startsWith("Waiting: "))).toHaveLength(3);
	});
});
