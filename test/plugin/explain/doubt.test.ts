// Tests that missing, late, unreadable or contradictory answers never lead to "can be evicted now".
import { describe, expect, test } from "vitest";
import type { CandidateState, Count } from "../../../disruption/budget/cluster.ts";
import {
	AgentForbiddenError,
	AgentProtocolError,
	AgentUnavailableError,
	FleetsDifferError,
} from "../../../disruption/errors.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { exitCodeOf } from "../../../plugin/plan/explain/explanation.ts";
import { type Distortion, ExplainedFleet } from "./explained-fleet.ts";

function failing(error: Error): Distortion {
	return () => {
		throw error;
	};
}

const candidatesBecome =
	(change: (state: CandidateState) => readonly CandidateState[]): Distortion =>
	(count) => ({ ...count, candidates: count.candidates.flatMap(change) });

interface Doubt {
	readonly name: string;
	readonly lay: (world: ExplainedFleet) => void;
	/** Whether it affects only answers about pods, not about budgets. */
	readonly ofPods?: true;
}

const distorted = (member: string, distortion: Distortion) => (world: ExplainedFleet) => {
	world.distortions.set(member, distortion);
};

const doubts: readonly Doubt[] = [
	{
		name: "a member without an answer",
		lay: (world) => {
			world.problems = ["us: no answer"];
			world.silent.add("us");
		},
	},
	{ name: "a way to a member that is missing", lay: (world) => void (world.problems = ["us: cannot be reached"]) },
	{ name: "a list that does not come", lay: (world) => void (world.fleet.member("us").isDown = true) },
	{ name: "a count that does not come", lay: distorted("us", failing(new AgentUnavailableError("silent", "us"))) },
	{ name: "a count that is not for us", lay: distorted("us", failing(new AgentForbiddenError("not yours"))) },
	{ name: "a count that cannot be read", lay: distorted("us", failing(new AgentProtocolError("cannot be read"))) },
	{ name: "a Lease that cannot be read", lay: (world) => void (world.fleet.member("us").isGarbled = true) },
	{ name: "a member of another fleet by its own words", lay: distorted("us", failing(new FleetsDifferError("who?"))) },
	{ name: "a member of another fleet", lay: (world) => void (world.fleet.member("us").otherHash = "other") },
	{ name: "a count from another fleet", lay: distorted("us", (count) => ({ ...count, fleetHash: "other" })) },
	{ name: "a count from another cluster", lay: distorted("us", (count) => ({ ...count, clusterId: "id-eu" })) },
	{
		name: "a count that comes late",
		lay: distorted("us", (count, clock) => {
			clock.ms += 5_001;
			return count;
		}),
	},
	{
		name: "lists that come late",
		ofPods: true,
		lay: ({ fleet, clock }) => {
			fleet.onList = () => void (clock.ms += 1_001);
		},
	},
	{
		name: "a count in which the budget is another one",
		lay: distorted("us", (count) => ({
			...count,
			budgets: count.budgets.map(({ name }) => ({
				name,
				spec: { maxUnavailable: 4, selector: { matchLabels: { app: "x" } } },
			})),
		})),
	},
	{
		name: "a budget that cannot be read in one member",
		lay: distorted("us", (count) => ({ ...count, budgets: count.budgets.map(({ name }) => ({ name, spec: "?" })) })),
	},
	{
		name: "expected pods that are not known",
		lay: distorted("us", (count) => ({ ...count, expected: { kind: "unknown", reason: "no scale" } })),
	},
	{
		name: "another budget that only the count has",
		ofPods: true,
		lay: distorted("eu", (count: Count) => ({
			...count,
			budgets: [
				...count.budgets,
				{
					name: { namespace: "shop", name: "new" },
					spec: { maxUnavailable: 0, selector: { matchLabels: { app: "db" } } },
				},
			],
		})),
	},
	{
		name: "an agent that has not seen the pod",
		ofPods: true,
		lay: distorted(
			"eu",
			candidatesBecome(({ pod }) => [{ kind: "unseen", pod }]),
		),
	},
	{
		name: "an agent that says nothing of the pod",
		ofPods: true,
		lay: distorted(
			"eu",
			candidatesBecome(() => []),
		),
	},
	{
		name: "an agent that says two things of the pod",
		ofPods: true,
		lay: distorted(
			"eu",
			candidatesBecome((state) => [state, state]),
		),
	},
	{
		name: "an agent that says it is gone",
		ofPods: true,
		lay: distorted(
			"eu",
			candidatesBecome(({ pod }) => [{ kind: "gone", pod }]),
		),
	},
	{
		name: "an agent that says it has finished",
		ofPods: true,
		lay: distorted(
			"eu",
			candidatesBecome(({ pod }) => [{ kind: "free", pod, why: "Finished" }]),
		),
	},
	{
		name: "an agent that says it is terminating",
		ofPods: true,
		lay: distorted(
			"eu",
			candidatesBecome(({ pod }) => [{ kind: "free", pod, why: "Terminating" }]),
		),
	},
	{
		name: "an agent that says it is not healthy",
		ofPods: true,
		lay: distorted(
			"eu",
			candidatesBecome((state) => [state.kind === "present" ? { ...state, healthy: false } : state]),
		),
	},
	{
		name: "an agent that has other labels of the pod",
		ofPods: true,
		lay: distorted(
			"eu",
			candidatesBecome((state) => [state.kind === "present" ? { ...state, labels: { app: "x" } } : state]),
		),
	},
	{
		name: "PodDisruptionBudgets that nobody may read",
		ofPods: true,
		lay: (world) =>
			void (world.native = new ApiError("poddisruptionbudgets is forbidden", { code: 403, reason: "Forbidden" })),
	},
];

describe("explain in doubt", () => {
	test("would say yes without it", async () => {
		for (const words of ["eu/pod/db-0", "budget/db", "eu/node/eu-n0"]) {
			expect(await new ExplainedFleet({ maxUnavailable: 2 }).explain(words), words).toMatchObject({ verdict: "MayGo" });
		}
	});

	for (const { name, lay, ofPods = false } of doubts) {
		test(`never says yes with ${name}`, async () => {
			for (const words of ["eu/pod/db-0", "eu/node/eu-n0", ...(ofPods ? [] : ["budget/db"])]) {
				const world = new ExplainedFleet({ maxUnavailable: 2 });
				lay(world);
				const found = await world.explain(words);
				expect(found.verdict, words).not.toBe("MayGo");
				expect(exitCodeOf(found.verdict), words).not.toBe(0);
				expect(found.findings, words).not.toEqual([]);
				expect(
					found.pods.filter(({ verdict }) => verdict === "MayGo" || verdict === "Follows"),
					words,
				).toEqual([]);
			}
		});
	}

	test("does not say that a member whose list is missing has no such budget", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 2 });
		world.unlisted.add("us");
		const found = await world.explain("budget/db");
		expect(found).toMatchObject({
			verdict: "Unknown",
			problems: ["us: no list"],
			answering: ["eu"],
			clusters: ["eu", "us"],
		});
	});

	test("shows what the others count, and a member without an answer as unknown", async () => {
		const world = new ExplainedFleet({ maxUnavailable: 2 });
		world.problems = ["us: no answer"];
		world.silent.add("us");
		for (const words of ["eu/pod/db-0", "budget/db"]) {
			const { budgets } = await world.explain(words);
			expect(budgets).toMatchObject([{ name: "db", allowed: undefined, healthy: undefined }]);
			expect(budgets[0]?.perCluster.get("eu")).toEqual({ healthy: 2, expected: 2 });
			expect(budgets[0]?.perCluster.get("us")).toEqual({ healthy: undefined, expected: undefined });
		}
	});
});
