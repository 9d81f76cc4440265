// Uses a grant: sends the eviction, and decides what to do if it is not accepted.
//
// Guarantee: every eviction names the pod's uid and a resourceVersion. That version was read before the reservation was last known to
// stand. The fence marks the reservation, touches the pod and only then removes the reservation. So a request that arrives after the mark
// finds another version (409, nothing happens), or a pod that still counts as unavailable. A pod whose labels are not those that were
// counted is not evicted, because other budgets may cover it now. A pod that got a pre-activity since is not evicted either.
//
// A grant is old if its counts were requested more than a second before its eviction is written. An old grant needs lists of all members'
// budgets that were requested within that last second. It is used only if they show the very budgets that it was granted under, unchanged.
// So a budget that was created or edited before these lists were requested is obeyed.
// Assumption: the API server honours preconditions.
import { bindToVersion, type FoundPod } from "./bind-to-version.ts";
import { formatBudgetName } from "../budget/budget.ts";
import { budgetTerms } from "../budget/budget-terms.ts";
import type { Cluster, PodReference } from "../budget/cluster.ts";
import { type CoverageJudgement, judgeCoverage, type ListedBudgets } from "../budget/coverage-judgement.ts";
import { giveBackAll } from "./give-back.ts";
import type { RoundRuntime } from "./round-runtime.ts";
import type { EvictionAnswer, Ticket } from "./ticket.ts";

export interface Evictor<R> {
	evict(
		pod: PodReference,
		preconditions: { readonly uid: string; readonly resourceVersion: string },
		reservationId: string,
		/** Called synchronously right before the request is written, after every wait. If it returns false, nothing is sent. */
		guard: () => boolean,
	): Promise<EvictionAnswer<R>>;
	/** Reads this very pod consistently. Returns undefined if it is gone, or if its name has another uid. */
	read(pod: PodReference): Promise<FoundPod | undefined>;
	/**
	 * Whether an eviction may still be sent. It may not in a pause, or after a stop, a timeout or the loss of the pod's node. Called before
	 * each attempt, and again right before the request is written.
	 */
	mayBeSent?(): boolean;
}

export interface CurrentBudgets {
	/** Returns lists of the namespace's budgets that are fresh at the call. Rejects if a member gives no answer. */
	list(namespace: string): Promise<ListedBudgets>;
	/** The lists must come from exactly these members. */
	readonly memberIds: () => readonly string[];
}

/**
 * In milliseconds. A grant with older counts is confirmed before use, because another budget may exist by then. The pod may also have
 * changed: a 409 uses up a disruption of a native PodDisruptionBudget for two minutes.
 */
export const freshForMs = 1_000;
/** The pause between two reads of a busy pod: a twentieth of the interval of a pod that changes five times a second. */
const lookForChangeEveryMs = 10;
/**
 * How long to wait for the right moment to evict a busy pod. After this time the run tries anyway, because a slow machine may never hit
 * that moment.
 */
export const patientForMs = 10_000;
/**
 * The most tries under one grant. A pod whose annotations change all the time causes a 409 each time, and the next round sees a newer
 * version.
 */
const maxAttempts = 8;

/**
 * Evicts the pod of a ticket. `cluster` is the pod's own cluster. Rejects with the errors of evict(), confirm(), read() and the lists of
 * budgets.
 */
export async function evictUnderTicket<R>(
	ticket: Ticket,
	cluster: Cluster,
	evictor: Evictor<R>,
	budgets: CurrentBudgets,
	runtime: Pick<RoundRuntime, "now" | "sleep" | "onLeftBehind">,
): Promise<Exclude<EvictionAnswer<R>, { kind: "notSent" }>> {
	const { pod, id, changesEveryMs } = ticket;
	let resourceVersion = ticket.resourceVersion;
	let guard = (): boolean => runtime.now() - ticket.countedAt <= freshForMs;
	let mustConfirm = changesEveryMs !== undefined || !guard();
	let hasChanged = false;
	let unknown: { readonly error: unknown } | undefined;
	const mayBeSent = (): boolean => evictor.mayBeSent?.() ?? true;
	for (let attempt = 0; attempt < maxAttempts && mayBeSent(); attempt += 1) {
		if (mustConfirm) {
			const confirmed = await confirmAnew(ticket, cluster, evictor, budgets, runtime);
			if ("kind" in confirmed) {
				if (confirmed.kind === "conflict") await cancelTicket(ticket, cluster, runtime, { sent: true });
				return confirmed;
			}
			({ resourceVersion, guard } = confirmed);
		}
		const isCurrent = guard;
		const answer = await evictor.evict(pod, { uid: pod.uid, resourceVersion }, id, () => mayBeSent() && isCurrent());
		switch (answer.kind) {
			case "accepted":
			case "gone":
				return answer;
			case "refused":
				await cancelTicket(ticket, cluster, runtime, { sent: true });
				return answer;
			case "unknown":
				unknown = { error: answer.error };
				break;
			case "conflict":
				unknown = undefined;
				hasChanged = true;
				break;
			case "notSent":
				break;
		}
		mustConfirm = true;
	}
	if (unknown) return { kind: "unknown", error: unknown.error };
	await cancelTicket(ticket, cluster, runtime, { sent: true });
	if (!mayBeSent())
		return { kind: "conflict", message: `the eviction of pod ${pod.namespace}/${pod.name} was held up` };
	return {
		kind: "conflict",
		message: hasChanged
			? `pod ${pod.namespace}/${pod.name} changed ${maxAttempts} times while it was being evicted`
			: `the eviction of pod ${pod.namespace}/${pod.name} waited too long to be sent, ${maxAttempts} times`,
	};
}

/**
 * A version for which the grant stands. `guard` judges the same lists again: it returns false if they are stale by then, or if the members
 * of the fleet have changed.
 */
interface ConfirmedVersion {
	readonly resourceVersion: string;
	readonly guard: () => boolean;
}

/**
 * Reads the pod, then confirms the reservation and its budgets. If the grant can no longer be used, it returns the answer that ends the
 * grant. A busy pod is read right after one of its changes, and read again if the confirmation took too long. An eviction under a native
 * PodDisruptionBudget takes the API server up to 100 ms, and the version is compared only at the end.
 */
async function confirmAnew<R>(
	ticket: Ticket,
	cluster: Cluster,
	evictor: Evictor<R>,
	budgets: CurrentBudgets,
	runtime: Pick<RoundRuntime, "now" | "sleep">,
): Promise<ConfirmedVersion | Exclude<Awaited<ReturnType<typeof bindToVersion>>, string>> {
	const { pod, changesEveryMs } = ticket;
	const { namespace } = pod;
	const patientUntil = runtime.now() + patientForMs;
	for (;;) {
		let judge: (() => CoverageJudgement) | undefined;
		let readAt = runtime.now();
		const read = async (): Promise<FoundPod | undefined> => {
			const found = await evictor.read(pod);
			if (changesEveryMs === undefined || !found || found.isTerminating) return found;
			const changed = await readAfterChange(changesEveryMs, found.resourceVersion, () => evictor.read(pod), runtime);
			readAt = changed.readAt;
			return changed.found;
		};
		const bound = await bindToVersion(ticket, read, async ({ resourceVersion, labels }) => {
			const listing = budgets.list(namespace);
			// Awaited below. Until then, its failure must not become an unhandled rejection.
			listing.catch(() => undefined);
			if (!(await standsEverywhere(ticket, cluster))) return "lost its reservation";
			await listing;
			// Returns the same list, unless it has become too old meanwhile.
			const listed = await budgets.list(namespace);
			const version = { resourceVersion, labels, readAt };
			judge = () =>
				judgeCoverage({ namespace, version }, listed, {
					memberIds: budgets.memberIds(),
					now: runtime.now(),
					triedAt: readAt,
				});
			return otherBudgets(ticket, judge(), listed);
		});
		if (typeof bound !== "string") return bound;
		const now = runtime.now();
		const isLate = changesEveryMs !== undefined && isTooLate(now - readAt, changesEveryMs);
		if (isLate && now < patientUntil) continue;
		return { resourceVersion: bound, guard: () => judge?.().kind === "covered" };
	}
}

/** Returns how the budgets differ from those that the pod was granted under, or why they cannot be judged. */
function otherBudgets(
	{ budgets, terms }: Ticket,
	judged: CoverageJudgement,
	{ members }: ListedBudgets,
): string | undefined {
	switch (judged.kind) {
		case "uncovered":
			return "left its budgets";
		case "unreadable":
			return `may have come under budget ${judged.budget}, which cannot be read,`;
		case "fleetsDiffer":
			return `could not be judged (${judged.message})`;
		case "listAgain":
		case "readAgain":
			return "could not be judged in time";
		case "covered":
			break;
	}
	const granted = new Map(budgets.map((name, index) => [formatBudgetName(name), terms[index]]));
	const names = judged.budgets.map(({ name }) => formatBudgetName(name));
	const other = names.find((name) => !granted.has(name));
	if (other !== undefined) return `came under budget ${other}`;
	const left = [...granted.keys()].find((name) => !names.includes(name));
	if (left !== undefined) return `left budget ${left}`;
	const changed = judged.budgets.find(({ name }) => budgetTerms(name, members) !== granted.get(formatBudgetName(name)));
	return changed && `saw budget ${formatBudgetName(changed.name)} change`;
}

/**
 * Reads until the pod has another version, is terminating or is gone, or until twice the usual interval has passed. `readAt` is the time
 * right before the last read.
 */
export async function readAfterChange<Found extends Pick<FoundPod, "resourceVersion" | "isTerminating">>(
	changesEveryMs: number,
	version: string,
	read: () => Promise<Found | undefined>,
	runtime: Pick<RoundRuntime, "now" | "sleep">,
): Promise<{ readonly found: Found | undefined; readonly readAt: number; readonly changed: boolean }> {
	const until = runtime.now() + 2 * changesEveryMs;
	for (;;) {
		await runtime.sleep(lookForChangeEveryMs, new AbortController().signal);
		const readAt = runtime.now();
		const found = await read();
		const changed = !found || found.isTerminating || found.resourceVersion !== version;
		if (changed || runtime.now() >= until) return { found, readAt, changed };
	}
}

/** Whether it is too late to evict a busy pod: the next change may come before the eviction has ended. */
export function isTooLate(sinceMs: number, changesEveryMs: number): boolean {
	return sinceMs > changesEveryMs / 4;
}

async function standsEverywhere(ticket: Ticket, cluster: Cluster): Promise<boolean> {
	const answers = await Promise.all(ticket.budgets.map((budget) => cluster.confirm(budget, [ticket.id])));
	return answers.length > 0 && answers.every(Boolean);
}

/**
 * Ends the reservation of a ticket in the Leases of all its budgets. `sent`: whether an eviction may have been sent under it. Never
 * rejects: a failed cancel is left to the fence and reported to `onLeftBehind`.
 */
export async function cancelTicket(
	ticket: Ticket,
	cluster: Cluster,
	runtime: Pick<RoundRuntime, "onLeftBehind">,
	options: { readonly sent: boolean },
): Promise<void> {
	const cancels = ticket.budgets.map((budget) => () => cluster.cancel(budget, [ticket.id], options));
	await giveBackAll(cancels, runtime);
}
