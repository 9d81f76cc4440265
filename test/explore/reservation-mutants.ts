// Mutants of reservations and of counting.
import type { Mutant } from "./mutant.ts";

const count = "agent/leases/count.ts";
const healthy = "disruption/budget/healthy.ts";
const expected = "agent/leases/expected-pods.ts";
const lease = "disruption/lease/lease.ts";
const reservation = "disruption/lease/reservation.ts";
const toCount = "agent/leases/pods-to-count.ts";
const view = "agent/views/pod-view.ts";

export const reservationMutants: readonly Mutant[] = [
	{
		name: "healthy-not-capped",
		without: "counting no more healthy pods of a cluster than it expects",
		scenarios: ["one-too-many"],
		edits: [
			{
				file: healthy,
				symbol: "countedHealthy",
				find: '$expected.kind === "known" ? Math.min($healthy, $expected.pods) : $healthy',
				replace: "$healthy",
			},
		],
	},
	{
		name: "capped-before-what-goes",
		without: "taking off what is about to go before a cluster's healthy pods are capped",
		scenarios: ["one-to-spare"],
		edits: [
			{
				file: healthy,
				symbol: "withPodsDown",
				find: "({ ...$count, healthy: $count.healthy - $pods })",
				replace:
					'({ ...$count, healthy: ($count.expected.kind === "known" ? Math.min($count.healthy, $count.expected.pods) : $count.healthy) - $pods })',
			},
		],
	},
	{
		name: "other-leases-not-read",
		without: "the reservations of the namespace's other Leases",
		scenarios: ["reserved-elsewhere", "covered-since"],
		edits: [
			{
				file: count,
				symbol: "countUnder",
				find: "const $all = withOthers($lease, $leases, $options);",
				replace: "const $all = [$lease];",
			},
		],
	},
	{
		name: "other-leases-read-late",
		without: "reading the other Leases at least as new as the acquisition",
		scenarios: ["reserved-elsewhere", "covered-since-by-a-late-watch"],
		edits: [
			{ file: count, symbol: "countUnder", find: "{ notOlderThan: $version }", replace: '{ notOlderThan: "0" }' },
		],
	},
	{
		name: "other-leases-of-a-late-watch",
		without: "waiting for the watch on Leases to have come as far as the acquisition",
		scenarios: ["reserved-elsewhere", "covered-since-by-a-late-watch"],
		edits: [
			{
				file: "agent/views/watched-leases.ts",
				symbol: "withWatchedLeases",
				find: "!(await $leases.reached($version))",
				replace: "false",
			},
		],
	},
	{
		name: "ended-with-its-reservations",
		without: "keeping the reservations of a Lease whose holding somebody ends",
		scenarios: ["ended-while-reserved", "ended-holding"],
		edits: [
			{
				file: "agent/leases/local-cluster.ts",
				symbol: "LocalCluster.endHolding",
				find: "released($lease)",
				replace: "released({ ...$lease, state: { ...$lease.state, reservations: [] } })",
			},
		],
	},
	{
		name: "marked-not-counted",
		without: "counting marked reservations",
		scenarios: ["marked-and-not-ended", "fence", "half-cancelled"],
		edits: [
			{
				file: count,
				symbol: "countUnder",
				find: "for (const $reservation of $state.reservations) $set;",
				replace: "for (const $reservation of $state.reservations) if (!$reservation.cancelling) $set;",
			},
		],
	},
	{
		name: "own-reservations-not-counted",
		without: "counting reservations at all",
		scenarios: ["race", "lag"],
		edits: [
			{ file: healthy, symbol: "isCountedHealthy", find: "isHealthy($pod) && !$reserved", replace: "isHealthy($pod)" },
		],
	},
	{
		name: "no-view-gate",
		without: "waiting for the view to have come as far as the evidence",
		scenarios: ["ended-on-evidence-unseen", "one-view-lags", "lag"],
		edits: [
			{
				file: toCount,
				symbol: "podsToCount",
				find: "await $choice.pods.arrives($version, viewWaitMs)",
				replace: "$choice.pods.live",
			},
			{ file: toCount, symbol: "ofView", find: "$pods.shows($version)", replace: "$pods.live" },
		],
	},
	{
		name: "observed-not-written",
		without: "writing down how far the evidence had come",
		scenarios: ["ended-on-evidence-unseen", "one-view-lags", "lag"],
		edits: [
			{
				file: lease,
				symbol: "withoutReservations",
				find: "latestResourceVersion($state.observed, $observed)",
				replace: "$state.observed || $observed",
			},
		],
	},
	{
		name: "observed-unreachable-for-a-view-that-lags",
		without: "a list that began after the question, before an `observed` counts as one from before a restore",
		scenarios: ["ended-on-evidence-unseen", "one-view-lags", "lag"],
		edits: [
			{
				file: toCount,
				symbol: "podsToCount",
				find: "$arrives ? $view : listPods($question, $choice)",
				replace:
					'$arrives ? $view : { ...ofView($question, "", $choice), from: "list", version: $choice.pods.resourceVersion }',
			},
		],
	},
	{
		name: "observed-of-highest-pod",
		without: "a list's own version as what it has observed",
		scenarios: ["seen-in-a-list", "pods-end"],
		edits: [
			{
				file: view,
				symbol: "PodStore.#listed",
				find: "for (const $uid of $gone) { $unlessHere; this.#rememberDeletion($uid, $version); $$forgotten; }",
				replace: `const all = this.#pods.namespaces().flatMap((name) => [...this.#pods.pods(name)]);
		const highest = latestResourceVersion(...all.map((pod) => pod.resourceVersion));
		for (const $uid of $gone) { $unlessHere; this.#rememberDeletion($uid, highest); $$forgotten; }`,
			},
			{
				file: view,
				symbol: "PodStore.#listed",
				find: "this.#goneFloor = $version;",
				replace:
					"this.#goneFloor = latestResourceVersion(...this.#pods.namespaces().flatMap((name) => [...this.#pods.pods(name)]).map((pod) => pod.resourceVersion));",
			},
		],
	},
	{
		name: "observed-of-another-lease-ignored",
		without: "the gate of the namespace's other Leases",
		scenarios: ["ended-elsewhere", "covered-since"],
		edits: [
			{
				file: toCount,
				symbol: "observedBy",
				find: "latestResourceVersion(...$all.map(({ state: $state }) => $state.observed))",
				replace: "$all[0].state.observed",
			},
		],
	},
	{
		name: "evidence-behind-the-reservation",
		without: "asking that evidence come from a view past the reservation",
		scenarios: ["replaced-and-unseen", "replaced-unseen", "replaced"],
		edits: [
			{
				file: reservation,
				symbol: "evidenceOf",
				find: "if (compareResourceVersions($view.resourceVersion, $reservation.resourceVersion) < 0) return undefined;",
				replace: "",
			},
		],
	},
	{
		name: "acquired-by-a-dead-watch",
		without: "leaving reservations alone where an acquire finds the watch on pods dead",
		scenarios: ["acquired-before-the-restore"],
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
		name: "ended-by-a-dead-watch",
		without: "leaving reservations alone where a sweep finds the watch on pods dead",
		scenarios: ["looked-for-before-the-restore"],
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
		name: "versions-compared-as-texts",
		without: "comparing resourceVersions as numbers",
		scenarios: ["lag", "one-view-lags"],
		edits: [
			{
				file: "disruption/resource-version.ts",
				symbol: "compareResourceVersions",
				find: "if ($a.length !== $b.length) $return;",
				replace: "",
			},
		],
	},
	{
		name: "events-older-than-the-list-applied",
		without: "ignoring events that a list has overtaken",
		scenarios: ["list-overtakes", "overtaken"],
		edits: [
			{
				file: view,
				symbol: "PodStore.apply",
				find: "compareResourceVersions($version, this.#resourceVersion) <= 0",
				replace: "false",
			},
			{
				file: view,
				symbol: "PodStore.apply",
				find: "this.#advance($version);",
				replace: "this.#advance(latestResourceVersion($version, this.#resourceVersion));",
			},
		],
	},
	{
		name: "lease-deleted-with-reservations",
		without: "deleting Leases only when they are empty",
		scenarios: ["cleaned-up-while-reserved", "lease-goes", "lease-deleted"],
		edits: [
			{
				file: "agent/leases/lease-cleanup.ts",
				symbol: "isEmpty",
				find: "$state.reservations.length === 0",
				replace: "true",
			},
		],
	},
	{
		name: "controllers-forgotten",
		without: "remembering controllers longer than reservations",
		scenarios: ["gone-and-relabelled"],
		edits: [
			{
				file: lease,
				symbol: "withoutReservations",
				find: "{ reservations: $left }",
				replace: "{ reservations: $left, controllers: arguments[1].size > 0 ? [] : arguments[0].state.controllers }",
			},
		],
	},
	{
		name: "orphans-not-expected",
		without: "expecting pods that nobody controls",
		scenarios: ["owned-and-not", "orphans", "owners-change"],
		edits: [{ file: expected, symbol: "expectedPods", find: "$bare += 1;", replace: "$bare += 0;" }],
	},
	{
		name: "orphans-granted",
		without: "keeping pods that nobody controls",
		scenarios: ["orphans", "owners-change"],
		edits: [
			{
				file: "disruption/budget/decide.ts",
				symbol: "judge",
				find: "$unexpected !== undefined && $needing",
				replace: "$unexpected === '' && $needing",
			},
		],
	},
	{
		name: "unknown-scale-is-zero",
		without: "refusing where a scale cannot be read",
		scenarios: ["scale-unread", "percent", "no-answer"],
		edits: [
			{
				file: "agent/leases/controller-owners.ts",
				symbol: "createOwners",
				find: "$api.getScale($controller, $namespace)",
				replace:
					'$api.getScale($controller, $namespace).catch(() => ({ kind: "replicas", replicas: 0, uid: $controller.uid }))',
			},
		],
	},
];
