// Safeguards of the fence, and of the eviction that it keeps out.
import type { Mutant } from "./mutant.ts";

const cancellation = "agent/cancellation.ts";
const eviction = "disruption/eviction.ts";
const local = "agent/local-cluster.ts";
const store = "agent/lease-store.ts";

export const cancellationMutants: readonly Mutant[] = [
	{
		name: "404-is-evidence",
		without: "leaving a reservation to the view where the pod is not found",
		scenarios: ["pods-end", "one-view-lags"],
		edits: [
			{
				file: cancellation,
				find: '	if (found.kind === "gone") return undefined;\n',
				replace: '	if (found.kind === "gone") return { id, observed: "" };\n',
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
				find: "	return { id, observed: alive",
				replace: "	return { id, uid, observed: alive",
			},
			{
				file: cancellation,
				find: "			const standing = new Set(found.state.reservations.filter(({ cancelling }) => cancelling).map(({ id }) => id));\n			const ended = fenced.filter(({ id }) => standing.has(id));\n",
				replace:
					'			const ended = found.state.reservations\n				.filter((standing) => fenced.some((each) => each.uid === standing.uid))\n				.map((each) => ({ id: each.id, observed: "" }));\n',
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
				find: "			? { write: marked(found, ids), result: undefined }\n",
				replace: "			? { result: undefined }\n",
			},
			{
				file: cancellation,
				find: "found.state.reservations.filter(({ cancelling }) => cancelling)",
				replace: "found.state.reservations.filter(() => true)",
			},
		],
	},
	{
		name: "cancel-without-touch",
		without: "touching the pod before its reservation goes",
		scenarios: ["fence", "half-cancelled"],
		edits: [{ file: cancellation, find: "	await touch(pod, options);\n", replace: "" }],
	},
	{
		name: "cancel-without-read",
		without: "reading the pod after the touch",
		scenarios: ["one-view-lags", "fence"],
		edits: [
			{
				file: cancellation,
				find: '	const found = await options.api.getPod(pod);\n	if (found.kind === "gone") return undefined;\n',
				replace:
					'	const found = { kind: "present", pod: { uid, terminating: false, finished: false, resourceVersion: "" } };\n',
			},
		],
	},
	{
		name: "terminating-without-observed",
		without: "the version read of a terminating pod as `observed`",
		scenarios: ["one-view-lags"],
		edits: [
			{
				file: cancellation,
				find: '	return { id, observed: alive ? "" : found.pod.resourceVersion };\n',
				replace: '	return { id, observed: alive ? "" : "" };\n',
			},
		],
	},
	{
		name: "resumed-without-own-touch",
		without: "a touch of its own by whoever resumes a cancel",
		scenarios: ["left-half-way", "half-cancelled"],
		edits: [
			{
				file: cancellation,
				find: "	const { leases } = options;\n	const { lease } = await",
				replace: "	const { leases } = options;\n	const before = new Set<string>();\n	const { lease } = await",
			},
			{
				file: cancellation,
				find: "leases.change(budget, (found) =>\n		found.state.reservations.some(({ id, cancelling }) => ids.has(id) && !cancelling)\n",
				replace:
					"leases.change(budget, (found) =>\n		(before.clear(), found.state.reservations.forEach((each) => each.cancelling && before.add(each.id)), found.state.reservations.some(({ id, cancelling }) => ids.has(id) && !cancelling))\n",
			},
			{
				file: cancellation,
				find: "fenceOff(budget, each, options)));",
				replace: "fenceOff(budget, each, options, before.has(each.id))));",
			},
			{
				file: cancellation,
				find: "	options: CancellationOptions,\n): Promise<{ readonly id: string; readonly observed: string } | undefined> {",
				replace:
					"	options: CancellationOptions,\n	resumed: boolean,\n): Promise<{ readonly id: string; readonly observed: string } | undefined> {",
			},
			{
				file: cancellation,
				find: "	await touch(pod, options);\n",
				replace: "	if (!resumed) await touch(pod, options);\n",
			},
		],
	},
	{
		name: "touch-with-an-old-value",
		without: "a value that was never used before in each touch",
		scenarios: ["touched-before", "two-cancellers"],
		edits: [
			{
				file: cancellation,
				find: "api.touchPod(pod, newId());",
				replace: "api.touchPod(pod, `${newId().slice(0, 0)}again`);",
			},
			{
				file: cancellation,
				find: "touched.resourceVersion === before.pod.resourceVersion)",
				replace: 'touched.resourceVersion === "")',
			},
		],
	},
	{
		name: "holder-cancels-directly",
		without: "the fence where the holder itself cancels after it has sent",
		scenarios: ["refused"],
		edits: [
			{
				file: eviction,
				find: "cluster.cancel(budget, [ticket.id], options)",
				replace: "cluster.cancel(budget, [ticket.id], { sent: false })",
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
				find: "		let readAt = runtime.now();\n",
				replace: "		const stands = await standsEverywhere(ticket, cluster);\n		let readAt = runtime.now();\n",
			},
			{ file: eviction, find: "!(await standsEverywhere(ticket, cluster))) return", replace: "!stands) return" },
		],
	},
	{
		name: "read-without-confirm",
		without: "confirming the reservation after a 409",
		scenarios: ["fence"],
		edits: [
			{ file: eviction, find: "!(await standsEverywhere(ticket, cluster))) return", replace: "!ticket.id) return" },
		],
	},
	{
		name: "relabelled-is-evicted",
		without: "comparing the pod's labels with those that were judged",
		scenarios: ["relabelled"],
		edits: [{ file: eviction, find: "!sameLabels(found.labels, ticket.labels)", replace: 'ticket.id === ""' }],
	},
	{
		name: "confirm-from-memory",
		without: "a GET of the Lease for every confirm",
		scenarios: ["confirm-elsewhere", "half-cancelled"],
		edits: [
			{
				file: local,
				find: "		const lease = await this.leases.read(budget);\n		const standing",
				replace: "		const lease = await this.leases.remembered(budget);\n		const standing",
			},
			{
				file: store,
				find: "	/** Told of a Lease by the watch: only",
				replace:
					"	async remembered(budget: BudgetName): Promise<BudgetLease | undefined> {\n		const known = this.#known.get(leaseName(budget));\n		return known ? parseLease(known) : this.read(budget);\n	}\n\n	/** Told of a Lease by the watch: only",
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
				find: "lease?.state.reservations.filter(({ cancelling }) => !cancelling).map",
				replace: "lease?.state.reservations.filter(({ id }) => id).map",
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
				find: "answers.length > 0 && answers.every(Boolean)",
				replace: "answers.length > 0 && answers.some(Boolean)",
			},
		],
	},
	{
		name: "evict-without-version",
		without: "the resourceVersion in the eviction",
		scenarios: ["fence"],
		edits: [{ file: eviction, find: "{ uid: pod.uid, resourceVersion }, id)", replace: "{ uid: pod.uid }, id)" }],
	},
	{
		name: "evict-without-uid",
		without: "the uid in the eviction",
		scenarios: ["replaced", "fence"],
		edits: [{ file: eviction, find: "{ uid: pod.uid, resourceVersion }, id)", replace: "{ resourceVersion }, id)" }],
		harmless: "A version belongs to one object of one API server, so another pod of that name never has it",
	},
	{
		name: "evict-by-name",
		without: "both preconditions of the eviction",
		scenarios: ["replaced", "fence"],
		edits: [{ file: eviction, find: "{ uid: pod.uid, resourceVersion }, id)", replace: "{}, id)" }],
	},
];
