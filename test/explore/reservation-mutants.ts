// Safeguards of reservations and of counting.
import type { Mutant } from "./mutant.ts";

const count = "agent/count.ts";
const expected = "agent/expected-pods.ts";
const lease = "disruption/lease.ts";
const reservation = "disruption/reservation.ts";
const view = "agent/pod-view.ts";

export const reservationMutants: readonly Mutant[] = [
	{
		name: "other-leases-not-read",
		without: "the reservations of the namespace's other Leases",
		scenarios: ["covered-since"],
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
		scenarios: ["covered-since-by-a-late-watch"],
		edits: [{ file: count, find: "notOlderThan: lease.resourceVersion }", replace: 'notOlderThan: "0" }' }],
	},
	{
		name: "other-leases-of-a-late-watch",
		without: "waiting for the watch on Leases to have come as far as the acquisition",
		scenarios: ["covered-since-by-a-late-watch"],
		edits: [
			{
				file: "agent/watched-leases.ts",
				find: " || !(await leases.reached(notOlderThan))",
				replace: "",
			},
		],
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
		scenarios: ["seen-in-a-list", "pods-end"],
		edits: [
			{
				file: view,
				find: "		for (const uid of before) {\n			if (this.#byUid.has(uid)) continue;\n			this.#rememberDeletion(uid, resourceVersion);\n",
				replace:
					"		const highest = latestResourceVersion(...pods.map((pod) => pod.resourceVersion));\n" +
					"		for (const uid of before) {\n			if (this.#byUid.has(uid)) continue;\n			this.#rememberDeletion(uid, highest);\n",
			},
			{
				file: view,
				find: "		this.#goneFloor = resourceVersion;\n",
				replace: "		this.#goneFloor = highest;\n",
			},
		],
	},
	{
		name: "observed-of-another-lease-ignored",
		without: "the gate of the namespace's other Leases",
		scenarios: ["covered-since"],
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
		scenarios: ["replaced-unseen", "replaced"],
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
		scenarios: ["lag", "one-view-lags"],
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
		scenarios: ["list-overtakes", "overtaken"],
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
		scenarios: ["lease-forgotten"],
		edits: [
			{ file: count, find: 'if (!pods.live || lease.state.observed === "") await', replace: "if (!pods.live) await" },
		],
	},
	{
		name: "lease-deleted-with-reservations",
		without: "deleting Leases only when they are empty",
		scenarios: ["lease-goes", "lease-deleted"],
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
];
