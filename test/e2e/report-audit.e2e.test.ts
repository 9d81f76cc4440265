// Compares a run's report with the API servers' audit logs.
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AvailabilitySample } from "../../demo/audit/availability.ts";
import { userAtHost } from "../../plugin/fleet/holder-identity.ts";
import type { BudgetCurve } from "../../plugin/picture/budget-curves.ts";
import { readRecord } from "../../plugin/picture/read-record.ts";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { everywhere } from "./check/run-check.ts";
import { createDatabase } from "./database.ts";
import { letNodesTakeNewPods } from "./new-pods.ts";
import { plugin } from "./plugin-process.ts";
import { untilAlone } from "./until-alone.ts";

/** The longest time until the agents and the run see a change, on a busy machine. */
const lateMs = 15_000;
/** A state that lasts longer than this must be reported. */
const steadyMs = 3_500;

interface Level {
	readonly from: number;
	readonly to: number;
	readonly healthy: number;
}

/** Returns the number of healthy pods from each change to the next. */
function levelsOf(samples: readonly AvailabilitySample[], to: number): readonly Level[] {
	return samples.map(({ at, healthy }, index) => ({
		from: at / 1_000,
		to: (samples[index + 1]?.at ?? to * 1_000) / 1_000,
		healthy,
	}));
}

/** Returns the curve as levels, without the parts that have no number. */
function pointsOf({ points, to }: BudgetCurve): readonly Level[] {
	return points.flatMap(({ at, healthy }, index) =>
		healthy === undefined ? [] : [{ from: at, to: points[index + 1]?.at ?? to, healthy }],
	);
}

describeOnFleet("the report of a run", () => {
	test("says what the audit logs say, of a run whose pods come back", async () => {
		await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		await untilAlone(database);
		const file = join(mkdtempSync(join(tmpdir(), "report-")), "run.html");
		const args = [
			"evict",
			"-l",
			"app=db",
			"-n",
			database.namespace,
			...everywhere,
			"-y",
			"--for=replaced",
			"--timeout=3m",
		];
		const run = await plugin([...args, "-o", "json", "--report", file]);
		expect(run.code, run.stdout).toBe(0);
		const picture = await readRecord(ReadableStream.from([Buffer.from(run.stdout)]), "run");
		const [curve] = picture.budgets;
		if (!curve) throw new Error("no budget was counted");
		const levels = levelsOf(await database.samples(), picture.to);
		const during = levels.filter(({ to }) => to > (curve.points[0]?.at ?? 0));
		const lowest = Math.min(...during.map(({ healthy }) => healthy));
		expect(lowest).toBe(5);
		expect(Math.min(...curve.points.flatMap(({ healthy }) => healthy ?? []))).toBe(lowest);
		// Every long state is reported, and every reported state was true a moment before.
		const told = pointsOf(curve);
		const steady = during.filter(({ from, to }) => to - from > steadyMs);
		for (const level of steady) {
			const isTold = told.some(({ from, to, healthy }) => {
				return healthy === level.healthy && from < level.to + lateMs && to > level.from;
			});
			expect(isTold, `${level.healthy} healthy pods from ${level.from} to ${level.to}`).toBe(true);
		}
		for (const { from, healthy } of told) {
			const wasSo = levels.some((level) => {
				return level.healthy === healthy && level.from <= from + 1_000 && level.to >= from - lateMs;
			});
			expect(wasSo, `${healthy} healthy pods, told at ${from}`).toBe(true);
		}
		expect(told.at(-1)?.healthy).toBe(6);
		// A pod is reported as replaced when all pods are ready again: not earlier, and not much later.
		const pods = picture.lanes.flatMap((lane) => lane.pods);
		expect(pods).toHaveLength(6);
		for (const { pod, end, replacedAt } of pods) {
			if (!end || replacedAt === undefined) throw new Error(`${pod} was not replaced`);
			const back = during.find(({ to, healthy }) => to > end.at && healthy === 6)?.from ?? Number.POSITIVE_INFINITY;
			expect(replacedAt, pod).toBeGreaterThanOrEqual(back - 50);
			expect(replacedAt - Math.max(back, end.at), pod).toBeLessThan(lateMs);
		}
		const html = readFileSync(file, "utf8");
		expect(html).toContain("at least 5 healthy; 6 evictions");
		expect(html).toContain(`run by <b>${userAtHost()}</b>`);
		expect(html).toContain(`kubectl xpdb evict -l app=db -n ${database.namespace}`);
	});

	test("says that a pod stayed away, and draws nothing that nobody counted", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await untilAlone(database);
		await letNodesTakeNewPods("c1", database, false);
		const file = join(mkdtempSync(join(tmpdir(), "report-")), "run.html");
		const args = ["evict", "db-0", "-n", database.namespace, "--context", "c1-operator"];
		const run = await plugin([...args, "-o", "json", "--report", file]);
		expect(run.code, run.stdout).toBe(0);
		const html = readFileSync(file, "utf8");
		expect(html).toContain("at least 2 healthy; 1 eviction");
		expect(html).toMatch(
			// The report names the pod if the agent has not seen it go yet.
			new RegExp(`not recovered: ${database.namespace}/db 2/3, [^<]*(?:db-0 in c1: |1 pod missing in c1)`),
		);
	});
});

describe("levelsOf()", () => {
	test("holds each number until the next change", () => {
		const sample = {
			cluster: "c1",
			pod: "db-0",
			uid: "u",
			change: "ready",
			user: "k",
			disruption: false,
			unavailable: 0,
		} as const;
		const samples = [
			{ ...sample, at: 1_000_000, healthy: 1 },
			{ ...sample, at: 3_000_000, healthy: 2 },
		];
		expect(levelsOf(samples, 5_000)).toEqual([
			{ from: 1_000, to: 3_000, healthy: 1 },
			{ from: 3_000, to: 5_000, healthy: 2 },
		]);
	});
});
