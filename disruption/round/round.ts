// The round: one pass of acquire, decide and commit, over every member of the fleet.
//
// Guarantee: a round issues a ticket only after a conditional write in every cluster, for every budget. Each of these writes found the
// acquisition unbroken since before its count. From that write on, the pod counts as unavailable for every run. So rounds whose commits all
// stood follow one another in the same order in every cluster. The later round counted the reservations of the earlier one (two-phase
// locking with the locks checked at the end). A pod is not granted if its own agent gave it no reservation, because the pod is gone or the
// budget no longer selects it. Its reservations under other budgets are taken back.
//
// An acquisition may become invalid during a wait: a Lease may expire, be taken over or be lost at any moment. Then a commit fails and
// nothing is evicted. None of this depends on a clock: durations only decide how soon other runs may continue.
import { acquireAll, type RoundRequest } from "./acquire-leases.ts";
import { type BudgetName, formatBudgetName } from "../budget/budget.ts";
import { budgetTerms } from "../budget/budget-terms.ts";
import type { CommitOutcome, Grant } from "../budget/cluster.ts";
import { decideWithStates, type Grantable, type Judgement } from "../budget/decide.ts";
import type { BudgetCounts } from "../budget/allowance.ts";
import { AgentUnavailableError, FleetsDifferError, GarbledLeaseError, LeaseLostError } from "../errors.ts";
import type { Ticket, RoundVerdict } from "./ticket.ts";
import { giveBackAll } from "./give-back.ts";
import { type LeftOutPods, leftOutKey, leftOutPods, waitingFor } from "./left-out.ts";
import { type HeldLease, RoundLeases, releaseLeases, type Slot } from "./round-leases.ts";
import type { RoundRuntime } from "./round-runtime.ts";
import type { RoundCandidate } from "../budget/verdict.ts";

/** How many times a commit without an answer is sent before it counts as failed. Repeats are safe, because a commit is idempotent. */
const commitAttempts = 3;

/**
 * Returns one verdict for each candidate, in their order. Rejects with LeaseLostError if an acquisition was broken: nothing is granted and
 * the caller starts a new round. Rejects with AgentUnavailableError if a member gave no answer, and with the reason of `signal` if it
 * aborts before the commit. Acquisitions made until then have been given back, or end by the lease time. GarbledLeaseError and
 * FleetsDifferError become a refusal of every candidate.
 */
export async function runRound(request: RoundRequest, runtime: RoundRuntime): Promise<readonly RoundVerdict[]> {
	const held = new RoundLeases(runtime, request.observer);
	try {
		const { judgements, counted } = await judgeAll(request, runtime, held);
		request.signal.throwIfAborted();
		return await commitAll(judgements, counted, held, runtime);
	} catch (error) {
		await held.releaseAll();
		if (error instanceof GarbledLeaseError || error instanceof FleetsDifferError)
			return refuseAll(request.candidates, error);
		throw error;
	}
}

/** Acquires, counts and decides, and renews the held Leases meanwhile. */
async function judgeAll(
	request: RoundRequest,
	runtime: RoundRuntime,
	held: RoundLeases,
): Promise<{ readonly judgements: readonly Judgement[]; readonly counted: readonly BudgetCounts[] }> {
	const lost = new AbortController();
	const renewing = held.keepAlive(lost);
	try {
		await acquireAll(request, runtime, held, lost.signal);
		await held.recountOld(request.signal);
	} catch (error) {
		if (lost.signal.reason instanceof LeaseLostError) throw lost.signal.reason;
		throw error;
	} finally {
		// Without a reason, abort() would create an unused Error with its stack.
		lost.abort("no longer needed");
		await renewing;
	}
	const counted = request.budgets.map((budget): BudgetCounts => ({ budget, counts: held.countsOf(budget) }));
	const memberIds = request.clusters.map(({ id }) => id);
	const { judgements, states } = decideWithStates(memberIds, counted, request.candidates);
	request.observer?.counted?.(states);
	return { judgements, counted };
}

/**
 * Commits in every cluster, even in those where nothing is granted, and takes everything back unless all commits stood. If nothing is
 * granted in any cluster, it only releases the Leases.
 */
async function commitAll(
	judgements: readonly Judgement[],
	counted: readonly BudgetCounts[],
	held: RoundLeases,
	runtime: RoundRuntime,
): Promise<readonly RoundVerdict[]> {
	const countedAt = held.oldestAskedAt;
	const tickets = new Map<Judgement, Ticket>();
	const termsOf = countedTerms(counted);
	for (const judgement of judgements) {
		if (judgement.kind !== "grantable") continue;
		const terms = judgement.budgets.map(termsOf);
		tickets.set(judgement, { ...ticketFor(judgement, runtime.newId(), countedAt), terms });
	}
	if (tickets.size === 0) {
		await held.releaseAll();
		return verdictsOf(judgements, tickets);
	}
	const commits = held.takeAll().map((slot) => ({ slot, grants: grantsFor(slot, judgements, tickets) }));
	const results = await Promise.all(
		commits.map(async ({ slot, grants }) => ({ slot, ...(await commitSlot(slot, grants)) })),
	);
	const failed = results.find((result) => result.kind !== "stood");
	if (!failed) {
		const leftOut = leftOutPods(results.map(({ slot, ...outcome }) => ({ clusterId: slot.cluster.id, outcome })));
		await takeBackLeftOut(commits, leftOut, runtime);
		return verdictsOf(judgements, tickets, leftOut);
	}
	await takeBack(commits, runtime);
	await releaseLeases(
		commits.map(({ slot }) => slot),
		runtime,
	);
	if (failed.kind === "failed") throw failed.error;
	if (failed.kind === "lost") throw new LeaseLostError(failed.reason);
	const { budget, cluster } = failed.slot;
	const { reservations, controllers = 0 } = failed;
	const message =
		`the Lease of budget ${formatBudgetName(budget.name)} in cluster ${cluster.name} holds ${reservations} reservations` +
		`${controllers > 0 ? `, remembers ${controllers} controllers,` : ""} and has no room for more`;
	return judgements.map((judgement) =>
		judgement.kind === "grantable"
			? { candidate: judgement.candidate, kind: "waiting", reason: "LeaseFull", message, usedBy: [] }
			: { ...judgement },
	);
}
type Commit = { readonly slot: HeldLease; readonly grants: readonly Grant[] };
type CommitResult = CommitOutcome | { readonly kind: "failed"; readonly error: unknown };

/** Takes back the reservations that left-out pods got under other budgets. */
async function takeBackLeftOut(commits: readonly Commit[], leftOut: LeftOutPods, runtime: RoundRuntime): Promise<void> {
	const written = commits.map(({ slot, grants }) => ({
		slot,
		grants: grants.filter(({ pod }) => leftOut.has(leftOutKey(slot.cluster.id, pod))),
	}));
	await takeBack(written, runtime);
}

async function commitSlot({ cluster, acquisition, told }: HeldLease, grants: readonly Grant[]): Promise<CommitResult> {
	let error: unknown;
	for (let attempt = 0; attempt < commitAttempts; attempt += 1) {
		try {
			const outcome = await told.unlessLost(cluster.commit(acquisition, grants));
			if (outcome.kind === "stood") told.released();
			else if (outcome.kind === "lost") told.lost(outcome.reason);
			return outcome;
		} catch (caught) {
			error = caught;
			if (!(caught instanceof AgentUnavailableError)) break;
		}
	}
	return error instanceof LeaseLostError ? { kind: "lost", reason: error.message } : { kind: "failed", error };
}

/** Removes the reservations of these commits without the fence, because no eviction was sent under them and none will be. */
async function takeBack(commits: readonly Commit[], runtime: RoundRuntime): Promise<void> {
	const granting = commits.filter(({ grants }) => grants.length > 0);
	const cancels = granting.map(({ slot: { cluster, budget }, grants }) => {
		const ids = grants.map(({ id }) => id);
		return () => cluster.cancel(budget.name, ids, { sent: false });
	});
	await giveBackAll(cancels, runtime);
}

function grantsFor(
	slot: Slot,
	judgements: readonly Judgement[],
	tickets: ReadonlyMap<Judgement, Ticket>,
): readonly Grant[] {
	return judgements.flatMap((judgement) => {
		const ticket = tickets.get(judgement);
		if (!ticket || judgement.kind !== "grantable" || ticket.clusterId !== slot.cluster.id) return [];
		const covered = judgement.budgets.some(
			({ namespace, name }) => namespace === slot.budget.name.namespace && name === slot.budget.name.name,
		);
		if (!covered) return [];
		const { pod, resourceVersion, controller } = judgement.state;
		return [{ id: ticket.id, pod, resourceVersion, ...(controller && { controller }) }];
	});
}

function ticketFor(
	{ candidate, state, budgets }: { readonly candidate: RoundCandidate } & Grantable,
	id: string,
	countedAt: number,
): Omit<Ticket, "terms"> {
	return {
		clusterId: candidate.clusterId,
		pod: candidate.pod,
		id,
		budgets,
		resourceVersion: state.resourceVersion,
		...(state.changesEveryMs !== undefined && { changesEveryMs: state.changesEveryMs }),
		labels: state.labels,
		countedAt,
	};
}

/** Returns a function that looks up budgetTerms() of a budget in these counts, and builds each text once. */
function countedTerms(counted: readonly BudgetCounts[]): (name: BudgetName) => string {
	const known = new Map<string, string>();
	return (name) => {
		const text = formatBudgetName(name);
		const counts = counted.find(({ budget }) => formatBudgetName(budget.name) === text)?.counts ?? [];
		const terms = known.get(text) ?? budgetTerms(name, counts);
		known.set(text, terms);
		return terms;
	};
}

function verdictsOf(
	judgements: readonly Judgement[],
	tickets: ReadonlyMap<Judgement, Ticket>,
	leftOut: LeftOutPods = new Map(),
): readonly RoundVerdict[] {
	return judgements.map((judgement): RoundVerdict => {
		if (judgement.kind !== "grantable") return judgement;
		const { clusterId, pod } = judgement.candidate;
		const left = leftOut.get(leftOutKey(clusterId, pod));
		if (left) return { candidate: judgement.candidate, ...waitingFor(pod, left) };
		const ticket = tickets.get(judgement);
		if (!ticket) throw new Error(`pod ${judgement.candidate.pod.name} was judged grantable without a ticket`);
		return { candidate: judgement.candidate, kind: "granted", ticket };
	});
}

function refuseAll(
	candidates: readonly RoundCandidate[],
	error: GarbledLeaseError | FleetsDifferError,
): readonly RoundVerdict[] {
	return candidates.map((candidate) => ({
		candidate,
		kind: "refused",
		reason: error.reason,
		message: error.message,
		retry: true,
	}));
}
