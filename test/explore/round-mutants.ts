// Safeguards of the round, of the decision and of the Lease that it holds.
import type { Mutant } from "./mutant.ts";

const round = "disruption/round.ts";
const decide = "disruption/decide.ts";
const lease = "disruption/lease.ts";
const local = "agent/local-cluster.ts";
const store = "agent/lease-store.ts";

export const roundMutants: readonly Mutant[] = [
	{
		name: "only-granting-clusters-commit",
		without: "the conditional write in clusters where nothing is granted",
		scenarios: ["steal", "race"],
		edits: [
			{
				file: round,
				find: "	const commits = held.splice(0).map((slot) => ({ slot, grants: grantsFor(slot, judgements, tickets) }));\n",
				replace:
					"	const all = held.splice(0).map((slot) => ({ slot, grants: grantsFor(slot, judgements, tickets) }));\n" +
					"	const commits = all.filter(({ grants }) => grants.length > 0);\n" +
					"	await releaseAll(all.filter(({ grants }) => grants.length === 0).map(({ slot }) => slot), runtime);\n",
			},
		],
	},
	{
		name: "evict-before-all-commits-stood",
		without: "waiting for every commit to stand",
		scenarios: ["steal", "race"],
		edits: [
			{
				file: round,
				find: '	const failed = results.find((result) => result.kind !== "stood");\n	if (!failed) return',
				replace:
					'	const failed = results.find((result) => result.kind !== "stood");\n	if (!failed || results.some((result) => result.kind === "stood")) return',
			},
		],
	},
	{
		name: "lost-answer-counts-as-commit",
		without: "counting a commit whose answer cannot be had as failed",
		scenarios: ["steal", "no-answer"],
		edits: [
			{
				file: round,
				find: 'return error instanceof LeaseLostError ? { kind: "lost", reason: error.message } : { kind: "failed", error };',
				replace:
					'return error instanceof LeaseLostError ? { kind: "lost", reason: error.message } : { kind: "stood" };',
			},
			{ file: round, find: "const commitAttempts = 3;", replace: "const commitAttempts = 1;" },
		],
	},
	{
		name: "nothing-taken-back",
		without: "taking the reservations back after a failed commit",
		scenarios: ["broken-commit", "steal"],
		edits: [{ file: round, find: "	await takeBack(commits, runtime);\n", replace: "" }],
	},
	{
		name: "commit-without-nonce",
		without: "the nonce in what identifies an acquisition",
		scenarios: ["restored"],
		edits: [
			{
				file: lease,
				find: "		lease.state.nonce === acquisition.nonce\n",
				replace: "		acquisition.nonce !== undefined\n",
			},
		],
	},
	{
		name: "commit-without-transitions",
		without: "the transitions in what identifies an acquisition",
		scenarios: ["late-double", "doubled-acquire"],
		edits: [
			{
				file: lease,
				find: "		lease.transitions === acquisition.leaseTransitions &&\n",
				replace: "",
			},
		],
	},
	{
		name: "doubled-acquire-revives",
		without: "new transitions at every acquire",
		scenarios: ["late-double", "doubled-acquire"],
		edits: [{ file: lease, find: "		transitions: lease.transitions + 1,\n", replace: "" }],
	},
	{
		name: "commit-without-lease-uid",
		without: "the Lease's uid in what identifies an acquisition",
		scenarios: ["lease-reborn", "lease-deleted"],
		edits: [{ file: lease, find: "		lease.uid === acquisition.leaseUid &&\n", replace: "" }],
	},
	{
		name: "commit-when-released",
		without: "the Lease being held when it is committed",
		scenarios: ["late-double", "steal", "race", "no-answer"],
		edits: [
			{
				file: lease,
				find: 'return isLatest(lease, acquisition) && lease.state.phase === "held";',
				replace: "return isLatest(lease, acquisition);",
			},
		],
		harmless:
			"Whoever takes a Lease raises its transitions, so one that is only given back was nobody else's since its count; a commit after that leaves a reservation under which nobody evicts, and the sweep ends it",
	},
	{
		name: "lease-writes-unconditional",
		without: "the resourceVersion in writes of the Lease",
		scenarios: ["race", "steal"],
		edits: [
			{ file: store, find: "			resourceVersion: lease.resourceVersion,\n", replace: '			resourceVersion: "",\n' },
		],
	},
	{
		name: "count-before-acquisition",
		without: "counting after the Lease was got",
		scenarios: ["lag", "race"],
		edits: [
			{
				file: local,
				find: '		if (this.#closing) throw this.#unavailable("is shutting down");\n		const { lease, result: got }',
				replace:
					'		if (this.#closing) throw this.#unavailable("is shutting down");\n' +
					"		const before = await this.leases.read(request.budget);\n" +
					"		const early = before && (await countUnder(Promise.resolve(before), request, { ...this.#options, cluster: this.name })).count;\n" +
					"		const { lease, result: got }",
			},
			{
				file: local,
				find: "				count: await this.#count(acquisition, Promise.resolve(lease), request),\n",
				replace: "				count: early ?? (await this.#count(acquisition, Promise.resolve(lease), request)),\n",
			},
		],
	},
	{
		name: "waiting-in-any-order",
		without: "the one order in which Leases are waited for",
		scenarios: ["waiting"],
		edits: [
			{
				file: round,
				find: "	return slots.toSorted((a, b) => (a.key < b.key ? -1 : 1));\n",
				replace: "	return slots;\n",
			},
		],
	},
	{
		name: "nothing-given-back-before-waiting",
		without: "giving back what was got before queueing",
		scenarios: ["waiting"],
		edits: [
			{
				file: round,
				find: "	await releaseAll(held.splice(0), runtime);\n	const signal = AbortSignal.any([request.signal, lost]);\n	for (const slot of slots) await",
				replace:
					"	const signal = AbortSignal.any([request.signal, lost]);\n	for (const slot of slots) if (!held.some((got) => got.cluster === slot.cluster)) await",
			},
		],
	},
	{
		name: "member-without-answer-left-out",
		without: "refusing where a member gives no answer",
		scenarios: ["no-answer", "race"],
		edits: [
			{
				file: round,
				find: "	if (failed) throw failed.reason;\n	return held.length === slots.length;",
				replace: "	return failed !== undefined || held.length === slots.length;",
			},
			{
				file: decide,
				find: "if (wrong.length > 0 || counted.length !== memberIds.length) {",
				replace: "if (counted.length === 0) {",
			},
		],
	},
	{
		name: "fleets-may-differ",
		without: "the hash of the fleet",
		scenarios: ["fleets-differ"],
		edits: [{ file: decide, find: "		if (others.length > 0) {\n", replace: "		if (others.length > 99) {\n" }],
	},
	{
		name: "selectors-may-differ",
		without: "refusing selectors that differ between members",
		scenarios: ["selectors-differ"],
		edits: [
			{
				file: decide,
				find: "		if (formatSelector(spec.selector) !== selector) {\n",
				replace: "		if (spec.selector === undefined) {\n",
			},
			{
				file: decide,
				find: "	if (selector !== formatSelector(budget.selector)) {\n",
				replace: "	if (!selector) {\n",
			},
		],
	},
	{
		name: "bound-of-one-member",
		without: "the strictest of all members' bounds",
		scenarios: ["bounds-differ"],
		edits: [
			{
				file: decide,
				find: "	const bounds = specs.map(({ spec }) => spec.bound);\n",
				replace: "	const bounds = specs.slice(0, 1).map(({ spec }) => spec.bound);\n",
			},
		],
	},
	{
		name: "suspended-in-one-is-suspended",
		without: "asking that a budget be suspended in all members",
		scenarios: ["suspended-in-one"],
		edits: [
			{
				file: decide,
				find: "if (specs.every(({ spec }) => spec.suspended))",
				replace: "if (specs.some(({ spec }) => spec.suspended))",
			},
		],
	},
	{
		name: "percentage-rounded-down",
		without: "rounding percentages up",
		scenarios: ["percent"],
		edits: [{ file: "disruption/budget.ts", find: "Math.ceil(", replace: "Math.floor(" }],
	},
	{
		name: "missing-in-member-is-free",
		without: "the budgets of other members",
		scenarios: ["second-budget-elsewhere", "missing-in-member"],
		edits: [
			{
				file: decide,
				find: "	const members = budgets.flatMap(({ counts }) => counts.flatMap((count) => count.budgets));\n",
				replace:
					"	const members = budgets.flatMap(({ counts }) =>\n" +
					"		counts.filter((count) => count.clusterId === candidate.clusterId).flatMap((count) => count.budgets),\n	);\n",
			},
			{
				file: decide,
				find: "	if (covering.length === 0) {\n",
				replace:
					'	if (covering.length === 0) return { kind: "free", why: "Finished" };\n	if (covering.length === 0) {\n',
			},
		],
	},
	{
		name: "one-of-two-budgets-is-enough",
		without: "asking that all of a pod's budgets have room",
		scenarios: ["two-budgets"],
		edits: [
			{
				file: decide,
				find: "	const exhausted = bounds.find((allowance) => !hasRoom(allowance, healthy));\n",
				replace:
					"	const exhausted = bounds.every((allowance) => !hasRoom(allowance, healthy)) ? bounds[0] : undefined;\n",
			},
		],
	},
	{
		name: "reserved-under-one-budget",
		without: "the reservation in the Leases of all its budgets",
		scenarios: ["two-budgets"],
		edits: [
			{
				file: round,
				find: "		if (!covered) return [];\n",
				replace: "		if (!covered || judgement.budgets[0]?.name !== slot.budget.name.name) return [];\n",
			},
		],
	},
	{
		name: "grants-of-one-round-not-summed",
		without: "what a decision's earlier grants have used up",
		scenarios: ["many-at-once", "bounds-differ"],
		edits: [
			{ file: decide, find: "	if (healthy) for (const allowance of bounds) allowance.healthy -= 1;\n", replace: "" },
		],
	},
	{
		name: "unready-is-free",
		without: "the reservation of pods that cost nothing now",
		scenarios: ["unready"],
		edits: [
			{
				file: decide,
				find: "	if (healthy) for (const allowance of bounds) allowance.healthy -= 1;\n",
				replace:
					'	if (!healthy) return { kind: "free", why: "Finished" };\n	for (const allowance of bounds) allowance.healthy -= 1;\n',
			},
		],
	},
	{
		name: "reserved-pod-granted-again",
		without: "refusing a pod that is reserved for somebody else",
		scenarios: ["somebody-elses", "granted-anew", "two-cancellers"],
		edits: [{ file: decide, find: "	if (reservedBy) {\n", replace: '	if (reservedBy?.holder === "") {\n' }],
		harmless:
			"The second grant is judged with the pod counted as unavailable, and has a reservation of its own with a fence of its own: the pod counts until the last of them has ended",
	},
	{
		name: "reservation-is-anyones-ticket",
		without: "a reservation being nobody else's ticket",
		scenarios: ["somebody-elses", "two-cancellers"],
		edits: [
			{
				file: decide,
				find: "	if (reservedBy) {\n",
				replace: '	if (reservedBy) return { kind: "free", why: "Terminating" };\n	if (reservedBy) {\n',
			},
		],
	},
	{
		name: "lease-named-by-selector",
		without: "one Lease for a budget, whatever its selector",
		scenarios: ["selector-edited"],
		edits: [
			{
				file: local,
				find: "		const { lease, result: got } = await this.leases.change(request.budget, (found) => {\n",
				replace:
					"		const { namespace, name } = request.budget;\n" +
					'		const selected = JSON.stringify(request.selector).replace(/[^a-z]/g, "");\n' +
					"		const named = { namespace, name: `${name}-${selected}` };\n" +
					"		const { lease, result: got } = await this.leases.change(named, (found) => {\n",
			},
			{
				file: local,
				find: "const { lease: latest, result } = await this.leases.change(question.budget,",
				replace: "const { lease: latest, result } = await this.leases.change(lease.budget,",
			},
		],
	},
	{
		name: "commit-on-a-lost-acquisition",
		without: "asking at the commit whether the acquisition stands",
		scenarios: ["late-double", "steal"],
		edits: [
			{
				file: local,
				find: '			if (!stands(found, acquisition)) return { result: "lost" as const };\n',
				replace: "",
			},
		],
	},
	{
		name: "count-on-a-lost-acquisition",
		without: "asking at a later count whether the acquisition stands",
		scenarios: ["waiting", "one-line", "steal"],
		edits: [
			{
				file: local,
				find: "		if (!lease || !stands(lease, acquisition)) throw this.#lost(acquisition, lease);\n		return lease;",
				replace: "		if (!lease) throw this.#lost(acquisition, lease);\n		return lease;",
			},
		],
		harmless: "The commit asks again, in every cluster: a count that does not belong to the acquisition is never used",
	},
	{
		name: "trying-again-instead-of-waiting",
		without: "waiting in line with what is held, where giving back and trying again can go on for ever",
		scenarios: ["in-step"],
		edits: [
			{
				file: round,
				find: "	for (const slot of slots) await acquireSlot(slot, request, runtime, held, true, signal);\n",
				replace:
					"	for (;;) {\n" +
					"		for (const slot of slots) await acquireSlot(slot, request, runtime, held, false, signal);\n" +
					"		if (held.length === slots.length) return;\n" +
					"		await releaseAll(held.splice(0), runtime);\n" +
					"	}\n",
			},
		],
	},
	{
		name: "commit-not-idempotent",
		without: "knowing one's own commit again",
		scenarios: ["race", "steal"],
		edits: [
			{
				file: local,
				find: '			if (isLatest(found, acquisition) && found.state.phase === "committed") return { result: "stood" as const };\n',
				replace: "",
			},
		],
		harmless: "A repeated commit then finds the Lease not held and takes its own reservations back: slower, not unsafe",
	},
];
