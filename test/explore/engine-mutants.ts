// Mutants of the eviction engine, of counts and views, of what agents do besides the rounds, and of the order in which callers are served.
import type { Mutant } from "./mutant.ts";

const judgement = "disruption/budget/coverage-judgement.ts";
const eviction = "disruption/round/eviction.ts";
const lease = "disruption/lease/lease.ts";
const cleanup = "agent/leases/lease-cleanup.ts";

export const engineMutants: readonly Mutant[] = [
	{
		name: "read-joins-one-under-way",
		without: "sending a shared read after everybody who shares it has asked",
		scenarios: ["joined-read"],
		edits: [
			{
				file: "agent/cluster-api/shared-reads.ts",
				symbol: "shareReads",
				find: "$waiting.delete($key); return $ask($question);",
				replace: "return $ask($question).finally(() => $waiting.delete($key));",
			},
		],
	},
	{
		name: "stopped-as-if-not-sent",
		without: "the fence for a ticket that may have been sent when its run was stopped",
		scenarios: ["stopped-unsure"],
		edits: [
			{
				file: "plugin/evictions/granted-eviction.ts",
				symbol: "evictGranted",
				find: "if ($isOver || $ends.aborted) { await cancelTicket($ticket, $member, $runtime, { sent: true }); $$rest; }",
				replace:
					"if ($isOver || $ends.aborted) { await cancelTicket($ticket, $member, $runtime, { sent: !$ends.aborted }); $$rest; }",
			},
		],
	},
	{
		name: "timed-out-as-if-not-sent",
		without: "the fence for a ticket that may have been sent when the time of its run is over",
		scenarios: ["timed-out-unsure"],
		edits: [
			{
				file: "plugin/evictions/granted-eviction.ts",
				symbol: "evictGranted",
				find: "if ($isOver || $ends.aborted) { await cancelTicket($ticket, $member, $runtime, { sent: true }); $$rest; }",
				replace:
					"if ($isOver || $ends.aborted) { await cancelTicket($ticket, $member, $runtime, { sent: arguments[3].stop.aborted || !$ends.aborted }); $$rest; }",
			},
		],
	},
	{
		name: "forbidden-as-if-not-sent",
		without: "the fence for a ticket that may have been sent before an error that no retry helps against",
		scenarios: ["forbidden-unsure"],
		edits: [
			{
				file: "plugin/evictions/granted-eviction.ts",
				symbol: "evictGranted",
				find: "if ($isOver || $ends.aborted) { await cancelTicket($ticket, $member, $runtime, { sent: true }); $$rest; }",
				replace:
					"if ($isOver || $ends.aborted) { await cancelTicket($ticket, $member, $runtime, { sent: !$isOver }); $$rest; }",
			},
		],
	},
	{
		name: "left-out-not-taken-back",
		without: "taking back, under its other budgets, what was written for a pod that its own agent left out",
		scenarios: ["left-out-of-one-budget"],
		edits: [
			{ file: "disruption/round/round.ts", symbol: "commitAll", find: "await takeBackLeftOut($$all);", replace: "" },
		],
	},
	{
		name: "older-list-replaces-newer",
		without: "keeping the list of budgets that was asked for last",
		harmless:
			"a list is judged by when it was asked for wherever it is used: an old one begins a round, which reads all budgets anew, and never says that no budget covers a pod",
		scenarios: ["budget-made-late", "budgets-come-and-go", "first-budget"],
		edits: [
			{
				file: "disruption/round/coverage.ts",
				symbol: "CoverageLists.#ask",
				find: "if (this.#underWay.get($namespace) === $underWay) this.#listed.set($$all);",
				replace: "this.#listed.set($$all);",
			},
		],
	},
	{
		name: "candidate-of-one-count",
		without: "refusing a candidate that one of its budgets' counts does not have",
		harmless:
			"a count answers for every candidate that it was asked for, and all counts of a cluster are asked for the same ones",
		scenarios: ["two-budgets", "race"],
		edits: [
			{
				file: "disruption/budget/decide.ts",
				symbol: "judge",
				find: "!$state || $states.length !== $budgets.length",
				replace: "!$state",
			},
		],
	},
	{
		name: "old-list-says-nobody",
		without: "asking anew for lists that are older than a second",
		scenarios: ["budget-made-late", "budgets-come-and-go", "first-budget"],
		edits: [
			{
				file: "disruption/round/coverage.ts",
				symbol: "CoverageLists.#isYoung",
				find: "return $young;",
				replace: "return true;",
			},
			{ file: judgement, symbol: "judgeCoverage", find: "!isFresh($listed.askedAt, $now)", replace: "false" },
		],
	},
	{
		name: "lists-grow-old-while-a-request-waits",
		without: "judging once more right before the request is written that no budget covers the pod",
		scenarios: ["login-after-lists"],
		edits: [
			{
				file: "disruption/round/coverage.ts",
				symbol: "coverPod",
				find: "{ guard: $says }",
				replace: "{ guard: () => true }",
			},
		],
	},
	{
		name: "grant-grows-old-while-a-request-waits",
		without: "looking once more at a grant's age right before its request is written",
		scenarios: ["login-after-grant"],
		edits: [
			{
				file: eviction,
				symbol: "evictUnderTicket",
				find: "let $guard = () => $runtime.now() - $ticket.countedAt <= freshForMs;",
				replace: "let $guard = () => true;",
			},
		],
	},
	{
		name: "grant-as-old-as-its-commit",
		without: "going by when its counts were asked for where a grant's age is looked at",
		scenarios: ["count-answered-late"],
		edits: [
			{
				file: "disruption/round/round.ts",
				symbol: "commitAll",
				find: "$held.oldestAskedAt",
				replace: "arguments[3].now()",
			},
		],
	},
	{
		name: "count-as-old-as-its-answer",
		without: "going by when a count was asked for, which may have been long before its answer came",
		scenarios: ["count-answered-late"],
		edits: [
			{
				file: "disruption/round/acquire-leases.ts",
				symbol: "acquireSlot",
				find: "$held.add({ ...$slot, ...$outcome, request: $acquire, askedAt: $asked })",
				replace: "$held.add({ ...$slot, ...$outcome, request: $acquire, askedAt: arguments[2].now() })",
			},
		],
	},
	{
		name: "confirmed-without-its-budgets",
		without: "looking for budgets that were made or edited since a grant, when it is confirmed",
		scenarios: ["login-after-grant"],
		edits: [{ file: eviction, symbol: "confirmAnew", find: "otherBudgets($$all)", replace: "undefined" }],
	},
	{
		name: "labels-of-the-first-list",
		without: "judging the labels of the version that an eviction names",
		scenarios: ["relabelled-late", "labels-change"],
		edits: [
			{
				file: "plugin/evictions/free-eviction.ts",
				symbol: "sendFreely",
				find: "{ resourceVersion: $version }",
				replace: "",
			},
			{ file: judgement, symbol: "judgeCoverage", find: "!isFresh($version.readAt, $now)", replace: "false" },
		],
	},
	{
		name: "observed-goes-back",
		without: "keeping the latest `observed`",
		scenarios: ["observed-again", "lag"],
		edits: [
			{
				file: lease,
				symbol: "withoutReservations",
				find: "latestResourceVersion($state.observed, $observed)",
				replace: "$observed || $state.observed",
			},
		],
	},
	{
		name: "swept-without-fence",
		without: "the fence where an agent ends a silent grant",
		scenarios: ["swept-late", "race"],
		edits: [
			{
				file: "agent/leases/reservation-sweep.ts",
				symbol: "ReservationSweep.#sweepLease",
				find: "{ sent: true }",
				replace: "{ sent: false }",
			},
		],
	},
	{
		name: "newcomer-passes-the-line",
		without: "sending newcomers to the end of the line",
		scenarios: ["past-the-line", "waiting", "one-line"],
		edits: [
			{
				file: "agent/leases/waiting-line.ts",
				symbol: "WaitingLine.acquire",
				find: "if (!$options.wait) return this.#place($line, $line.waiters.length + 1);",
				replace: "if (!$options.wait) return arguments[1](false);",
			},
		],
	},
	{
		name: "dead-watch-is-a-view",
		without: "counting from a list where the watch on pods is dead",
		scenarios: ["failed-unseen", "dead-watch"],
		edits: [
			{
				file: "agent/views/pod-view.ts",
				symbol: "PodStore.shows",
				find: "this.live && $$reached",
				replace: "this.#synced && $$reached",
			},
		],
	},
	{
		name: "view-alive-for-ever",
		without: "taking a view without a sign of life for dead",
		scenarios: ["failed-unseen"],
		edits: [
			{
				file: "agent/views/pod-view.ts",
				symbol: "PodStore.live",
				find: "this.#options.clock.now() - this.#lastSignAt < signOfLifeMs",
				replace: "true",
			},
		],
	},
	{
		name: "any-lease-is-free",
		without: "leaving a Lease to a holder that shows life",
		scenarios: ["race", "steal"],
		edits: [
			{
				file: "agent/leases/lease-store.ts",
				symbol: "LeaseStore.isFree",
				find: '$lease.holder === "" || this.silentForMs($lease) > $lease.durationMs',
				replace: "true",
			},
		],
	},
	{
		name: "refused-keeps-its-reservation",
		without: "ending the reservation of an eviction that the API server refused",
		scenarios: ["two-native-budgets", "refused", "labels-change"],
		edits: [
			{
				file: eviction,
				symbol: "evictUnderTicket",
				find: "const $answer = await $evictor.evict($$request);",
				replace: 'const $answer = await $evictor.evict($$request); if ($answer.kind === "refused") return $answer;',
			},
		],
	},
	{
		name: "cleaned-up-without-asking",
		without: "asking all members whether they have the budget of a Lease that is to be deleted",
		scenarios: ["cleaned-up-early", "cleaned-up"],
		edits: [
			{ file: cleanup, symbol: "LeaseCleanup.#deleteUnwanted", find: "if ($lists.some($$has)) return;", replace: "" },
		],
	},
	{
		name: "remembered-owners-win",
		without: "asking the controllers that the view shows",
		scenarios: ["owned-and-not"],
		edits: [
			{
				file: "agent/leases/expected-pods.ts",
				symbol: "expectedPods",
				find: "const [$lately, $names, $matched] = await $reads; const $owning = $chosen; $$between; for (const $pod of $pods) { const $owner = $pod.controller && $owning.get($pod.controller.uid); $$rest; }",
				replace: `const [$lately, $names, $matched] = await $reads; const $owning = $chosen; $$between;
	for (const $pod of $pods) {
		const remembered = [...$names.values()].find((each) => each.kind === "scaled");
		const $owner = remembered ?? ($pod.controller && $owning.get($pod.controller.uid)); $$rest; }`,
			},
		],
	},
	{
		name: "names-of-an-old-comparison",
		without: "listing budgets for a count where their watch is dead, or was compared more than 5 s ago",
		scenarios: ["compared-too-long-ago", "budget-created"],
		edits: [
			{
				file: "agent/leases/count.ts",
				symbol: "budgetsOf",
				find: "if (!$budgets.proven) return $api.listBudgets($budget.namespace);",
				replace: "",
			},
		],
	},
	{
		name: "counts-know-one-budget",
		without: "the names of other budgets in a count",
		scenarios: ["budget-created"],
		edits: [
			{
				file: "agent/leases/count.ts",
				symbol: "budgetsOf",
				find: "for (const { name: $name } of $budgets.budgets($budget.namespace)) $names.set(formatBudgetName($name), $name);",
				replace: "",
			},
		],
	},
	{
		name: "watch-counts-as-compared",
		without: "how long ago the watch on budgets was compared with a list",
		scenarios: ["compared-too-long-ago", "budget-created"],
		edits: [
			{
				file: "agent/views/object-views.ts",
				symbol: "budgetViewOf",
				find: "$store.live && $comparison.isRecent",
				replace: "$store.live",
			},
		],
	},
	{
		name: "list-of-another-fleet",
		without: "comparing the fleets that lists of budgets were made in",
		scenarios: ["member-with-the-budget"],
		edits: [
			{
				file: judgement,
				symbol: "judgeCoverage",
				find: "if ($message !== undefined) $differs;",
				replace: "",
			},
		],
	},
];
