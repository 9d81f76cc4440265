// Safeguards of reservations, of counting, and of the fence.
import type { Mutant } from "./mutant.ts";

const cancellation = "agent/cancellation.ts";
const count = "agent/count.ts";
const eviction = "disruption/eviction.ts";
const expected = "agent/expected-pods.ts";
const lease = "disruption/lease.ts";
const local = "agent/local-cluster.ts";
const reservation = "disruption/reservation.ts";
const store = "agent/lease-store.ts";
const view = "agent/pod-view.ts";

export const reservationMutants: readonly Mutant[] = [
	{
		name: "other-leases-not-read",
		without: "the reservations of the namespace's other Leases",
		scenarios: ["relabelled", "two-budgets-cancelled", "two-budgets"],
		edits: [
			{
				file: count,
				find: "		...leases.map((other) => parseLease(other, options.cluster)).filter(({ name }) => name !== lease.name),\n",
				replace: "		...leases.map((other) => parseLease(other, options.cluster)).filter(() => false),\n",
			},
		],
	},
	{
		name: "other-leases-read-late",
		without: "reading the other Leases at least as new as the acquisition",
		scenarios: ["relabelled", "two-budgets"],
		edits: [{ file: count, find: "notOlderThan: lease.resourceVersion }", replace: 'notOlderThan: "0" }' }],
	},
	{
		name: "marked-not-counted",
		without: "counting marked reservations",
		scenarios: ["fence", "half-cancelled"],
		edits: [
			{
				file: count,
				find: "		for (const reservation of state.reservations) reservations.set(reservation.uid, reservation);\n",
				replace:
					"		for (const reservation of state.reservations)\n			if (!reservation.cancelling) reservations.set(reservation.uid, reservation);\n",
			},
		],
	},
	{
		name: "own-reservations-not-counted",
		without: "counting reservations at all",
		scenarios: ["race", "lag"],
		edits: [
			{
				file: count,
				find: "		if (isHealthy(pod) && !reservation) healthy += 1;\n",
				replace: "		if (isHealthy(pod)) healthy += 1;\n",
			},
		],
	},
	{
		name: "no-view-gate",
		without: "waiting for the view to have come as far as the evidence",
		scenarios: ["one-view-lags", "lag"],
		edits: [
			{
				file: count,
				find: "	await pods.reached(latestResourceVersion(...all.map(({ state }) => state.observed)));\n",
				replace: "",
			},
		],
	},
	{
		name: "observed-not-written",
		without: "writing down how far the evidence had come",
		scenarios: ["one-view-lags", "lag"],
		edits: [
			{
				file: lease,
				find: "			observed: latestResourceVersion(state.observed, observed),\n",
				replace: "			observed: state.observed || observed,\n",
			},
		],
	},
	{
		name: "observed-of-highest-pod",
		without: "a list's own version as what it has observed",
		scenarios: ["pods-end", "lag"],
		edits: [
			{
				file: view,
				find: "		for (const uid of before) if (!this.#byUid.has(uid)) this.#rememberDeletion(uid, resourceVersion);\n		this.#goneFloor = resourceVersion;\n",
				replace:
					"		const highest = latestResourceVersion(...pods.map((pod) => pod.resourceVersion));\n" +
					"		for (const uid of before) if (!this.#byUid.has(uid)) this.#rememberDeletion(uid, highest);\n		this.#goneFloor = highest;\n",
			},
		],
	},
	{
		name: "observed-of-another-lease-ignored",
		without: "the gate of the namespace's other Leases",
		scenarios: ["two-budgets"],
		edits: [
			{
				file: count,
				find: "latestResourceVersion(...all.map(({ state }) => state.observed))",
				replace: "lease.state.observed",
			},
		],
	},
	{
		name: "evidence-behind-the-reservation",
		without: "asking that evidence come from a view past the reservation",
		scenarios: ["replaced", "lag"],
		edits: [
			{
				file: reservation,
				find: "	if (compareResourceVersions(view.resourceVersion, reservation.resourceVersion) < 0) return undefined;\n",
				replace: "",
			},
		],
	},
	{
		name: "versions-compared-as-texts",
		without: "comparing resourceVersions as numbers",
		scenarios: ["one-view-lags", "lag", "pods-end"],
		edits: [
			{
				file: "disruption/resource-version.ts",
				find: "	if (a.length !== b.length) return a.length < b.length ? -1 : 1;\n",
				replace: "",
			},
		],
	},
	{
		name: "events-older-than-the-list-applied",
		without: "ignoring events that a list has overtaken",
		scenarios: ["pods-end", "lag"],
		edits: [
			{
				file: view,
				find: "		if (!this.#synced || compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0) return;\n		if (event",
				replace: "		if (!this.#synced) return;\n		if (event",
			},
			{
				file: view,
				find: "		this.#advance(resourceVersion);\n		this.#notify(pod.namespace);\n",
				replace:
					"		this.#advance(latestResourceVersion(resourceVersion, this.#resourceVersion));\n		this.#notify(pod.namespace);\n",
			},
		],
	},
	{
		name: "new-lease-counted-from-the-view",
		without: "a consistent list for a Lease without `observed`",
		scenarios: ["lease-deleted"],
		edits: [{ file: count, find: 'if (!pods.live || lease.state.observed === "") {', replace: "if (!pods.live) {" }],
	},
	{
		name: "lease-deleted-with-reservations",
		without: "deleting Leases only when they are empty",
		scenarios: ["lease-deleted"],
		edits: [
			{
				file: "test/explore/world-steps.ts",
				find: "		if (lease.spec.holderIdentity || !mayBeDeleted(server, lease.name)) continue;\n",
				replace: "		if (lease.spec.holderIdentity && mayBeDeleted(server, lease.name)) continue;\n",
			},
		],
	},
	{
		name: "controllers-forgotten",
		without: "remembering controllers longer than reservations",
		scenarios: ["three-clusters"],
		edits: [
			{
				file: lease,
				find: "			reservations: state.reservations.filter((reservation) => !ids.has(reservation.id)),\n",
				replace:
					"			reservations: state.reservations.filter((reservation) => !ids.has(reservation.id)),\n			controllers: ids.size > 0 ? [] : state.controllers,\n",
			},
		],
	},
	{
		name: "orphans-not-expected",
		without: "expecting pods that nobody controls",
		scenarios: ["orphans", "owners-change"],
		edits: [
			{
				file: expected,
				find: 'if (!controller || !scale || scale.kind === "gone" || controller.kind === "DaemonSet") total += 1;',
				replace: 'if (!controller || !scale || scale.kind === "gone" || controller.kind === "DaemonSet") total += 0;',
			},
		],
	},
	{
		name: "unknown-scale-is-zero",
		without: "refusing where a scale cannot be read",
		scenarios: ["percent", "no-answer"],
		edits: [
			{
				file: expected,
				find: "			const answer = await api.getScale(controller, namespace);\n",
				replace:
					'			const answer = await api.getScale(controller, namespace).catch(() => ({ kind: "replicas", replicas: 0 }) as ScaleAnswer);\n',
			},
		],
	},
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
		scenarios: ["two-cancellers"],
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
		scenarios: ["fence", "half-cancelled"],
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
		scenarios: ["half-cancelled", "two-cancellers"],
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
				find: "cluster.cancel(budget, [ticket.id], { sent: true })",
				replace: "cluster.cancel(budget, [ticket.id], { sent: false })",
			},
		],
	},
	{
		name: "confirm-before-read",
		without: "reading the pod before the reservation is confirmed",
		scenarios: ["fence"],
		edits: [
			{
				file: eviction,
				find: "			const found = await evictor.read(pod);\n",
				replace:
					"			const stands = await standsEverywhere(ticket, cluster);\n			const found = await evictor.read(pod);\n",
			},
			{
				file: eviction,
				find: "			if (!(await standsEverywhere(ticket, cluster))) {\n",
				replace: "			if (!stands) {\n",
			},
		],
	},
	{
		name: "read-without-confirm",
		without: "confirming the reservation after a 409",
		scenarios: ["fence"],
		edits: [
			{
				file: eviction,
				find: "			if (!(await standsEverywhere(ticket, cluster))) {\n",
				replace: "			if (!ticket.id) {\n",
			},
		],
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
		scenarios: ["fence", "half-cancelled"],
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
		scenarios: ["two-budgets-cancelled", "two-budgets"],
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
