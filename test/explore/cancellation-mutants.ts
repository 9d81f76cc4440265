// Mutants of the fence, and of the confirmations and preconditions that keep a late eviction from doing harm.
import type { Mutant } from "./mutant.ts";

const cancellation = "agent/leases/cancellation.ts";
const eviction = "disruption/round/eviction.ts";
const binding = "disruption/round/bind-to-version.ts";
const local = "agent/leases/local-cluster.ts";
const store = "agent/leases/lease-store.ts";

export const cancellationMutants: readonly Mutant[] = [
	{
		name: "404-is-evidence",
		without: "leaving a reservation to the view where the pod is not found",
		scenarios: ["cancelled-when-gone", "pods-end", "one-view-lags"],
		edits: [
			{
				file: cancellation,
				symbol: "fenceOff",
				find: 'if ($found.kind === "gone") return undefined;',
				replace: 'if ($found.kind === "gone") return { id: arguments[1].id, observed: "" };',
			},
		],
	},
	{
		name: "removed-by-uid",
		without: "ending a reservation by its id",
		scenarios: ["granted-anew", "two-cancellers"],
		edits: [
			{
				file: cancellation,
				symbol: "fenceOff",
				find: '({ id: $id, observed: $alive ? "" : $version })',
				replace: '({ id: $id, uid: arguments[1].uid, observed: $alive ? "" : $version })',
			},
			{
				file: cancellation,
				symbol: "cancel",
				find: "const $standing = new Set($found.state.reservations.filter($$marked).map($$ids)); const $ended = $fenced.filter($$isStanding);",
				replace: `const $ended = $found.state.reservations
			.filter((standing) => $fenced.some((each) => each.uid === standing.uid))
			.map((each) => ({ id: each.id, observed: "" }));`,
			},
		],
	},
	{
		name: "cancel-without-mark",
		without: "marking a reservation before it is cancelled",
		scenarios: ["confirmed-meanwhile", "fence"],
		edits: [
			{
				file: cancellation,
				symbol: "cancel",
				find: "({ write: marked($$all), result: undefined })",
				replace: "({ result: undefined })",
			},
			{
				file: cancellation,
				symbol: "cancel",
				find: "({ cancelling: $cancelling }) => $cancelling",
				replace: "() => true",
			},
		],
	},
	{
		name: "cancel-without-touch",
		without: "touching the pod before its reservation goes",
		scenarios: ["cancelled-and-late", "fence", "half-cancelled"],
		edits: [{ file: cancellation, symbol: "fenceOff", find: "await touch($$all);", replace: "" }],
	},
	{
		name: "cancel-without-read",
		without: "reading the pod after the touch",
		scenarios: ["cancelled-as-it-ends", "one-view-lags", "fence"],
		edits: [
			{
				file: cancellation,
				symbol: "fenceOff",
				find: 'const $found = await $api.getPod($pod); if ($found.kind === "gone") return undefined;',
				replace:
					'const $found = { kind: "present", pod: { uid: $pod.uid, terminating: false, finished: false, resourceVersion: "" } };',
			},
		],
	},
	{
		name: "terminating-without-observed",
		without: "the version read of a terminating pod as `observed`",
		scenarios: ["cancelled-as-it-ends", "one-view-lags"],
		edits: [{ file: cancellation, symbol: "fenceOff", find: '$alive ? "" : $version', replace: '""' }],
	},
	{
		name: "resumed-without-own-touch",
		without: "a touch of its own by whoever resumes a cancel",
		scenarios: ["left-half-way", "half-cancelled"],
		edits: [
			{
				file: cancellation,
				symbol: "cancel",
				find: "const { lease: $lease } = await $leases.changeExisting($budget, ($found) => $step);",
				replace: `const before = new Set();
	const { lease: $lease } = await $leases.changeExisting($budget, ($found) => {
		before.clear();
		for (const each of $found.state.reservations) if (each.cancelling) before.add(each.id);
		return $step;
	});`,
			},
			{
				file: cancellation,
				symbol: "cancel",
				find: "fenceOff($budget, $each, $options)",
				replace: "fenceOff($budget, $each, $options, before.has($each.id))",
			},
			{
				file: cancellation,
				symbol: "fenceOff",
				find: "await touch($$all);",
				replace: "if (!arguments[3]) await touch($$all);",
			},
		],
	},
	{
		name: "touch-with-an-old-value",
		without: "a value that was never used before in each touch",
		scenarios: ["cancelled-again-and-late", "touched-before", "two-cancellers"],
		edits: [
			{
				file: cancellation,
				symbol: "touch",
				find: "$api.touchPod($pod, $value)",
				replace: '$api.touchPod($pod, "again")',
			},
			{
				file: cancellation,
				symbol: "touch",
				find: "$touched.resourceVersion === $before.pod.resourceVersion",
				replace: "false",
			},
		],
	},
	{
		name: "holder-cancels-directly",
		without: "the fence where the holder itself cancels after it has sent",
		scenarios: ["refused-unsure", "refused"],
		edits: [
			{
				file: eviction,
				symbol: "cancelTicket",
				find: "$cluster.cancel($budget, $ids, $options)",
				replace: "$cluster.cancel($budget, $ids, { sent: false })",
			},
		],
	},
	{
		name: "confirm-before-read",
		without: "reading the pod before the reservation is confirmed",
		scenarios: ["read-late", "fence"],
		edits: [
			{
				file: eviction,
				symbol: "confirmAnew",
				find: "let $readAt = $runtime.now();",
				replace: `const stands = await standsEverywhere(arguments[0], arguments[1]);
		let $readAt = $runtime.now();`,
			},
			{ file: eviction, symbol: "confirmAnew", find: "!(await standsEverywhere($$all))", replace: "!stands" },
		],
	},
	{
		name: "read-without-confirm",
		without: "confirming the reservation after a 409",
		scenarios: ["cancelled-and-late", "fence"],
		edits: [{ file: eviction, symbol: "confirmAnew", find: "!(await standsEverywhere($$all))", replace: "false" }],
	},
	{
		name: "relabelled-is-evicted",
		without: "judging a grant that is confirmed by the labels that its pod has now",
		scenarios: ["relabelled"],
		edits: [
			{ file: binding, symbol: "bindToVersion", find: "!sameLabels($$all)", replace: "false" },
			// Without this edit, judgeCoverage() would refuse the new labels if other budgets cover the pod.
			{
				file: eviction,
				symbol: "confirmAnew",
				find: "judgeCoverage($question, $$rest)",
				replace:
					"judgeCoverage({ ...$question, version: { ...$question.version, labels: arguments[0].labels } }, $$rest)",
			},
		],
	},
	{
		name: "confirm-from-memory",
		without: "a GET of the Lease for every confirm",
		scenarios: ["cancelled-and-late", "confirm-elsewhere", "half-cancelled"],
		edits: [
			{
				file: local,
				symbol: "LocalCluster.confirm",
				find: "this.leases.read($budget)",
				replace: 'this.leases.read($budget, "remembered")',
			},
			{
				file: store,
				symbol: "LeaseStore.read",
				find: "const $object = await $api.getLease(leaseName($budget));",
				replace: `if (arguments[1] === "remembered" && this.#known.has(leaseName($budget))) return this.#known.get(leaseName($budget));
		const $object = await $api.getLease(leaseName($budget));`,
			},
		],
	},
	{
		name: "confirm-of-marked",
		without: "refusing to confirm what is marked",
		scenarios: ["confirmed-meanwhile", "fence"],
		edits: [
			{
				file: local,
				symbol: "LocalCluster.confirm",
				find: "({ cancelling: $cancelling }) => !$cancelling",
				replace: "() => true",
			},
		],
	},
	{
		name: "confirm-in-one-budget",
		without: "confirming in all Leases that hold the grant",
		scenarios: ["between-commits", "two-budgets-cancelled"],
		edits: [
			{
				file: eviction,
				symbol: "standsEverywhere",
				find: "$answers.every(Boolean)",
				replace: "$answers.some(Boolean)",
			},
		],
	},
	{
		name: "evict-without-version",
		without: "the resourceVersion in the eviction",
		scenarios: ["cancelled-and-late", "fence"],
		edits: [
			{
				file: eviction,
				symbol: "evictUnderTicket",
				find: "({ uid: $pod.uid, resourceVersion: $version })",
				replace: "({ uid: $pod.uid })",
			},
		],
	},
	{
		name: "evict-without-uid",
		without: "the uid in the eviction",
		scenarios: ["replaced", "fence"],
		edits: [
			{
				file: eviction,
				symbol: "evictUnderTicket",
				find: "({ uid: $pod.uid, resourceVersion: $version })",
				replace: "({ resourceVersion: $version })",
			},
		],
		harmless: "A version belongs to one object of one API server, so another pod of that name never has it",
	},
	{
		name: "evict-by-name",
		without: "both preconditions of the eviction",
		scenarios: ["cancelled-and-late", "replaced", "fence"],
		edits: [
			{
				file: eviction,
				symbol: "evictUnderTicket",
				find: "({ uid: $pod.uid, resourceVersion: $version })",
				replace: "({})",
			},
		],
	},
];
