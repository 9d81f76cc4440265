// Tests that an explanation of a node refuses exactly the pods that a plan calls impossible, with the same exit code.
import { describe, expect, test } from "vitest";
import { exitCodeOf } from "../../../plugin/plan/explain/explanation.ts";
import { makePlan } from "../../../plugin/plan/make-plan.ts";
import { readFacts } from "../../../plugin/plan/read-facts.ts";
import { ExplainedFleet, wallClock } from "./explained-fleet.ts";
import { newNativeBudget } from "./native-budget.ts";

/** Returns the pods that can never go, with reasons and exit codes, from a plan and from an explanation. */
async function judgeBoth(world: ExplainedFleet) {
	const { contexts, view } = world;
	const [context] = contexts;
	if (!context || !view.fleet) throw new Error("no context");
	const options = {
		force: false,
		ignoreDaemonSets: true,
		deleteEmptyDirData: false,
		skipWaitAfterSeconds: 0,
		podSelector: "",
		chunkSize: 500,
		deletes: false,
		maxNodes: 1,
		order: { kind: "none" } as const,
		gracePeriodSeconds: -1,
		timeoutMs: 0,
		now: wallClock,
	};
	const node = { context, name: "eu-n0", uid: "n0", unschedulable: false };
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a plan asks for no more of it
	const fleet = view.fleet as unknown as Parameters<typeof readFacts>[1] extends Promise<infer F>
		? NonNullable<(F & { fleet: object })["fleet"]>
		: never;
	const facts = await readFacts([node], Promise.resolve({ fleet, uncovered: [] }), options);
	const plan = makePlan(facts, options);
	const found = await world.explain("eu/node/eu-n0");
	const refused = found.pods.filter(({ verdict }) => verdict === "Refused");
	return {
		plan: plan.impossible.map(({ pod, reason }) => `${pod} ${reason}`).toSorted(),
		explain: refused.map(({ pod, findings: [worst] }) => `${pod} ${worst?.reason}`).toSorted(),
		exitCodes: [plan.exitCode, exitCodeOf(found.verdict)],
	};
}

interface Row {
	readonly name: string;
	readonly spec?: Readonly<Record<string, unknown>>;
	readonly change?: (world: ExplainedFleet) => void;
	/** The pods that can never go. */
	readonly never: readonly string[];
	readonly reason?: string;
}

const rows: readonly Row[] = [
	{ name: "a budget with room", spec: { maxUnavailable: 1 }, never: [] },
	{ name: "a budget that leaves none", spec: { maxUnavailable: 0 }, never: ["db-0", "db-1"], reason: "BudgetNeverMet" },
	{
		name: "replacements that find no node, so that the budget stays used up",
		spec: { maxUnavailable: 1 },
		change: (world) => void (world.nodes = ["n0"]),
		never: ["db-1"],
		reason: "BudgetStaysUsedUp",
	},
	{
		name: "pods that nothing recreates, until too few are left",
		spec: { minAvailable: 3 },
		change(world) {
			for (const name of ["db-0", "db-1"]) world.fields.set(name, { unmanaged: true });
		},
		never: ["db-0", "db-1"],
		reason: "PodsNotAllowed",
	},
	{
		name: "pods of a controller, with nothing to spare",
		spec: { minAvailable: 4 },
		never: ["db-0", "db-1"],
		reason: "BudgetNeverMet",
	},
	{
		name: "a pod that a drain does not take keeps its node",
		spec: { maxUnavailable: 1 },
		change: (world) => void world.fields.set("db-1", { emptyDir: true }),
		never: ["db-1"],
		reason: "PodsNotAllowed",
	},
	{
		name: "a PodDisruptionBudget that leaves none",
		change(world) {
			world.native = [
				newNativeBudget({ expectedPods: 2, currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0 }),
			];
		},
		never: ["db-0", "db-1"],
		reason: "BudgetNeverMet",
	},
	{
		name: "a PodDisruptionBudget, and replacements that find no node",
		change(world) {
			world.native = [
				newNativeBudget({ expectedPods: 2, currentHealthy: 2, desiredHealthy: 1, disruptionsAllowed: 1 }),
			];
			world.nodes = ["n0"];
		},
		never: ["db-1"],
		reason: "BudgetStaysUsedUp",
	},
	{
		name: "a pod that has not started, whatever its budget says",
		spec: { maxUnavailable: 0 },
		change(world) {
			for (const pod of world.fleet.member("eu").pods.values())
				if (pod.name === "db-0") Object.assign(pod, { pending: true, healthy: false });
		},
		never: ["db-1"],
		reason: "BudgetNeverMet",
	},
	{
		name: "a budget that nobody can read",
		spec: { maxUnavailable: "some" },
		never: ["db-0", "db-1"],
		reason: "InvalidBudget",
	},
];

describe("explain node and plan agree about", () => {
	for (const { name, spec, change, never, reason } of rows) {
		test(name, async () => {
			const world = new ExplainedFleet(spec);
			change?.(world);
			const { plan, explain, exitCodes } = await judgeBoth(world);
			expect(plan).toEqual(never.map((pod) => `${pod} ${reason}`));
			expect(explain).toEqual(plan);
			expect(exitCodes.map((code) => code === 3)).toEqual(never.length > 0 ? [true, true] : [false, false]);
		});
	}
});
