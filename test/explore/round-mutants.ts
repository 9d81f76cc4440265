// Mutants of the round and of the Leases that it holds.
import type { Mutant } from "./mutant.ts";

const acquiring = "disruption/round/acquire-leases.ts";
const round = "disruption/round/round.ts";
const decide = "disruption/budget/decide.ts";
const lease = "disruption/lease/lease.ts";
const acquirer = "agent/leases/acquirer.ts";
const counts = "agent/leases/acquisition-counts.ts";
const local = "agent/leases/local-cluster.ts";
const store = "agent/leases/lease-store.ts";

export const roundMutants: readonly Mutant[] = [
	{
		name: "only-granting-clusters-commit",
		without: "the conditional write in clusters where nothing is granted",
		scenarios: ["crossed-steals", "steal", "race"],
		edits: [
			{
				file: round,
				symbol: "commitAll",
				find: "const $commits = $held.takeAll().map($each);",
				replace: `const all = $held.takeAll().map($each);
	const $commits = all.filter(({ grants }) => grants.length > 0);
	await releaseLeases(all.filter(({ grants }) => grants.length === 0).map(({ slot }) => slot), arguments[2]);`,
			},
		],
	},
	{
		name: "evict-before-all-commits-stood",
		without: "waiting for every commit to stand",
		scenarios: ["crossed-steals", "steal", "race"],
		edits: [
			{
				file: round,
				symbol: "commitAll",
				find: 'const $failed = $results.find(($result) => $result.kind !== "stood"); if (!$failed) $decided;',
				replace: `const $failed = $results.find(($result) => $result.kind !== "stood");
	if (!$failed || $results.some((each) => each.kind === "stood")) $decided;`,
			},
		],
	},
	{
		name: "lost-answer-counts-as-commit",
		without: "counting a commit whose answer cannot be had as failed",
		scenarios: ["commit-unheard", "steal", "no-answer"],
		edits: [
			{ file: round, symbol: "commitSlot", find: '({ kind: "failed", error: $error })', replace: '{ kind: "stood" }' },
			{ file: round, symbol: "commitAttempts", find: "3", replace: "1" },
		],
	},
	{
		name: "nothing-taken-back",
		without: "taking the reservations back after a failed commit",
		scenarios: ["broken-commit", "steal"],
		edits: [{ file: round, symbol: "commitAll", find: "await takeBack($$all);", replace: "" }],
	},
	{
		name: "commit-without-nonce",
		without: "the nonce in what identifies an acquisition",
		scenarios: ["restored-between", "restored"],
		edits: [{ file: lease, symbol: "isLatest", find: "$lease.state.nonce === $acquisition.nonce", replace: "true" }],
	},
	{
		name: "commit-without-transitions",
		without: "the transitions in what identifies an acquisition",
		scenarios: ["late-double", "doubled-acquire"],
		edits: [
			{
				file: lease,
				symbol: "isLatest",
				find: "$lease.transitions === $acquisition.leaseTransitions",
				replace: "true",
			},
		],
	},
	{
		name: "doubled-acquire-revives",
		without: "new transitions at every acquire",
		scenarios: ["late-double", "doubled-acquire"],
		edits: [{ file: lease, symbol: "acquired", find: "{ transitions: $lease.transitions + 1 }", replace: "" }],
	},
	{
		name: "commit-without-lease-uid",
		without: "the Lease's uid in what identifies an acquisition",
		scenarios: ["lease-reborn", "lease-deleted"],
		edits: [{ file: lease, symbol: "isLatest", find: "$lease.uid === $acquisition.leaseUid", replace: "true" }],
	},
	{
		name: "commit-when-released",
		without: "the Lease being held when it is committed",
		scenarios: ["late-double", "steal", "race", "no-answer"],
		edits: [{ file: lease, symbol: "stands", find: '$lease.state.phase === "held"', replace: "true" }],
		harmless:
			"Whoever takes a Lease raises its transitions, so one that is only given back was nobody else's since its count; a commit after that leaves a reservation under which nobody evicts, and the sweep ends it",
	},
	{
		name: "lease-writes-unconditional",
		without: "the resourceVersion in writes of the Lease",
		scenarios: ["race", "steal"],
		edits: [
			{
				file: store,
				symbol: "LeaseStore.#object",
				find: "{ resourceVersion: $lease.resourceVersion }",
				replace: '{ resourceVersion: "" }',
			},
		],
	},
	{
		name: "count-before-acquisition",
		without: "counting after the Lease was got",
		scenarios: ["lag", "race"],
		edits: [
			{
				file: acquirer,
				symbol: "Acquirer.#attempt",
				find: "const { lease: $lease, result: $got } = await $leases.change($$step);",
				replace: `const before = await $leases.read(arguments[0].budget);
		const early = before && (await this.#options.counts.count(arguments[0], Promise.resolve(before), arguments[0]).catch(() => undefined));
		const { lease: $lease, result: $got } = await $leases.change($$step);`,
			},
			{
				file: acquirer,
				symbol: "Acquirer.#attempt",
				find: "await $counts.count($$all)",
				replace: "early ?? (await $counts.count($$all))",
			},
		],
	},
	{
		name: "waiting-in-any-order",
		without: "the one order in which Leases are waited for",
		scenarios: ["waiting"],
		edits: [{ file: acquiring, symbol: "slotsInOrder", find: "$slots.toSorted($$order)", replace: "$slots" }],
	},
	{
		name: "nothing-given-back-before-waiting",
		without: "giving back what was got before queueing",
		scenarios: ["waiting"],
		edits: [
			{ file: acquiring, symbol: "acquireAll", find: "await $held.releaseAll();", replace: "" },
			{
				file: acquiring,
				symbol: "acquireAll",
				find: "for (const $slot of $slots) $wait;",
				replace:
					"for (const $slot of $slots) if (!arguments[2].countsOf($slot.budget).some((got) => got.clusterId === $slot.cluster.id)) $wait;",
			},
		],
	},
	{
		name: "member-without-answer-left-out",
		without: "refusing where a member gives no answer",
		scenarios: ["no-answer", "race"],
		edits: [
			{ file: acquiring, symbol: "acquireAtOnce", find: "if ($failed) throw $failed.reason;", replace: "" },
			{
				file: acquiring,
				symbol: "acquireAtOnce",
				find: "$held.size === $slots.length",
				replace: "$held.size === $slots.length || arguments[3].size > 0",
			},
			{
				file: decide,
				symbol: "refuseFleet",
				find: "$wrong.length > 0 || $counted.length !== $members.length",
				replace: "$counted.length === 0",
			},
		],
	},
	{
		name: "reservation-is-anyones-ticket",
		without: "a reservation being nobody else's ticket",
		scenarios: ["somebody-elses", "two-cancellers"],
		edits: [
			{
				file: decide,
				symbol: "judge",
				find: 'if ($reservedBy) { return waiting("PodReserved", $$message); }',
				replace: 'if ($reservedBy) return { kind: "free", why: "Terminating" };',
			},
		],
	},
	{
		name: "lease-named-by-selector",
		without: "one Lease for a budget, whatever its selector",
		scenarios: ["selector-edited"],
		edits: [
			{
				file: acquirer,
				symbol: "Acquirer.#attempt",
				find: "const { lease: $lease, result: $got } = await $leases.change($request.budget, $step);",
				replace: `const { namespace, name } = $request.budget;
		const selected = JSON.stringify($request.selector).replace(/[^a-z]/g, "");
		const named = { namespace, name: \`\${name}-\${selected}\` };
		const { lease: $lease, result: $got } = await $leases.change(named, $step);`,
			},
			{
				file: counts,
				symbol: "AcquisitionCounts.#countNow",
				find: "$leases.change($question.budget, $step)",
				replace: "$leases.change(arguments[0].budget, $step)",
			},
		],
	},
	{
		name: "commit-on-a-lost-acquisition",
		without: "asking at the commit whether the acquisition stands",
		scenarios: ["late-double", "steal"],
		edits: [
			{
				file: "disruption/lease/held-under.ts",
				symbol: "heldUnder",
				find: "if (!$unwritten) return stands($lease, $acquisition) ? $lease : undefined;",
				replace: "if (!$unwritten) return $lease;",
			},
		],
	},
	{
		name: "count-on-a-lost-acquisition",
		without: "asking at a later count whether the acquisition stands",
		scenarios: ["waiting", "one-line", "steal"],
		edits: [{ file: counts, symbol: "AcquisitionCounts.#readHeld", find: "!stands($$all)", replace: "false" }],
		harmless: "The commit asks again, in every cluster: a count that does not belong to the acquisition is never used",
	},
	{
		name: "trying-again-instead-of-waiting",
		without: "waiting in line with what is held, where giving back and trying again can go on for ever",
		scenarios: ["in-step"],
		edits: [
			{
				file: acquiring,
				symbol: "acquireAll",
				find: "for (const $slot of $slots) await acquireSlot($slot, $request, $runtime, $held, true, $signal);",
				replace: `for (;;) {
		for (const $slot of $slots) await acquireSlot($slot, $request, $runtime, $held, false, $signal);
		if ($held.size === $slots.length) return;
		await $held.releaseAll();
	}`,
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
				symbol: "LocalCluster.commit",
				find: 'if (isLatest($$all) && $found.state.phase === "committed") return { result: "stood" };',
				replace: "",
			},
		],
		harmless: "A repeated commit then finds the Lease not held and takes its own reservations back: slower, not unsafe",
	},
];
