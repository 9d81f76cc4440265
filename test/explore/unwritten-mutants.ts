// Mutants of holds that are not written (see disruption/lease/held-under.ts), and of the maximum age of a count at its commit.
import type { Mutant } from "./mutant.ts";

const heldUnder = "disruption/lease/held-under.ts";
const count = "agent/leases/count.ts";

export const unwrittenMutants: readonly Mutant[] = [
	{
		name: "unwritten-on-any-lease",
		without: "comparing the Lease with the one that an unwritten hold was counted from",
		scenarios: ["counted-side-by-side", "race"],
		edits: [
			{
				file: heldUnder,
				symbol: "heldUnder",
				find: '$lease.holder !== "" || leaseFingerprint($lease) !== $unwritten.lease',
				replace: "false",
			},
			{
				file: heldUnder,
				symbol: "heldUnder",
				find: "const $taken = acquired($$all); return stands($taken, $acquisition) ? $taken : undefined;",
				replace:
					"return acquired(arguments[0], { holder: arguments[1].unwritten.holder, nonce: arguments[1].nonce, durationMs: 10_000 });",
			},
		],
	},
	{
		name: "unwritten-not-counted-again",
		without: "counting again once the commit of an unwritten hold is written",
		scenarios: ["reserved-unseen", "covered-since-the-count"],
		edits: [
			{
				file: "agent/leases/local-cluster.ts",
				symbol: "LocalCluster.commit",
				find: "$hold && !(await hasEnoughHealthyPods($$all))",
				replace: "false",
			},
		],
	},
	{
		name: "unwritten-after-a-restore",
		without: "letting an unwritten hold stand only on the API connection over which it was counted",
		scenarios: ["counted-before-the-restore", "one-member-restored", "restored-with-higher-versions"],
		edits: [
			{
				file: "agent/leases/optimistic-holds.ts",
				symbol: "OptimisticHolds.isUnbroken",
				find: "this.#api.connection() === $connection",
				replace: "true",
			},
		],
	},
	{
		name: "count-without-end",
		without: "refusing commits of counts that were asked for more than 20 s ago",
		scenarios: ["scaled-since-the-count", "scaled-since-a-written-count"],
		edits: [
			{
				file: "agent/leases/local-cluster.ts",
				symbol: "LocalCluster.#whyOld",
				find: "this.#options.clock.now() - $askedAt <= longestCountAgeMs",
				replace: "true",
			},
		],
	},
	{
		name: "count-as-old-as-its-double",
		without: "going by the first of several questions for the count that came with an acquisition",
		scenarios: ["counted-again-by-a-double"],
		edits: [
			{
				file: "agent/leases/asked-counts.ts",
				symbol: "AskedCounts.remember",
				find: "!this.#askedAt.has($key)",
				replace: "true",
			},
		],
	},
	{
		name: "unwritten-counted-again-by-sums",
		without: "leaving out what was counted as unready when the pods of an unwritten hold are counted again",
		scenarios: ["unready-hides-reserved", "ready-since-the-count", "budget-made-again"],
		edits: [{ file: count, symbol: "hasEnoughHealthyPods", find: "!$unready.has($pod.uid)", replace: "true" }],
	},
	{
		name: "unwritten-counted-again-from-a-late-watch",
		without: "reading the other Leases at least as new as the commit of an unwritten hold",
		scenarios: ["reserved-unseen"],
		edits: [
			{
				file: count,
				symbol: "hasEnoughHealthyPods",
				find: "{ notOlderThan: $version }",
				replace: '{ notOlderThan: "0" }',
			},
		],
	},
	{
		name: "unwritten-counted-again-from-a-late-view",
		without:
			"waiting for the view to have come as far as evidence had, when the pods of an unwritten hold are counted again",
		scenarios: ["ended-unseen"],
		edits: [
			{
				file: count,
				symbol: "hasEnoughHealthyPods",
				find: "await $pods.arrives(observedBy($all), recountWaitMs)",
				replace: "$pods.live",
			},
		],
	},
	{
		name: "unwritten-counted-again-behind-a-dead-watch",
		without: "the no of a second count that finds the watch on pods dead",
		scenarios: ["failed-since-the-count"],
		edits: [
			{
				file: count,
				symbol: "hasEnoughHealthyPods",
				find: "await $pods.arrives(observedBy($all), recountWaitMs)",
				replace: "compareResourceVersions($pods.resourceVersion, observedBy($all)) >= 0",
			},
		],
	},
	{
		name: "unwritten-commit-by-a-dead-watch",
		without: "leaving reservations alone where the commit of an unwritten hold finds the watch on pods dead",
		scenarios: ["evident-before-the-restore"],
		edits: [
			{
				file: "agent/leases/drop-settled-reservations.ts",
				symbol: "dropSettledReservations",
				find: "if (!$pods.live) return $lease;",
				replace: "",
			},
		],
	},
	{
		name: "unwritten-on-the-same-version",
		without: "all that a Lease says, beside uid and version, in what an unwritten hold was counted from",
		harmless:
			"Only etcd from a backup gives a version of one Lease to something else, and a hold stands only over the connection that was there before its count",
		scenarios: ["counted-before-the-restore", "one-member-restored"],
		edits: [
			{
				file: heldUnder,
				symbol: "leaseFingerprint",
				find: '[$uid, $version, String($transitions), $annotations[stateAnnotation] ?? ""]',
				replace: "[$uid, $version]",
			},
		],
	},
];
