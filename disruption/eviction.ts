// Carrying out a grant: the eviction, and what to do when its answer is not a plain yes.
//
// Guarantee: every eviction names the pod's uid and a resourceVersion that was read before the reservation was last
// known to stand. Who cancels a reservation marks it, touches the pod and only then removes it: a request that is later
// than the mark finds either another version (409, nothing happens) or a pod that still counts as unavailable. A pod
// whose labels are not those that were counted is not evicted: other budgets may cover it now. Nor is one that was given
// a pre-activity since.
// Assumption: the API server honours preconditions.
import type { BudgetName } from "./budget.ts";
import type { Cluster, PodReference } from "./cluster.ts";
import { giveBackAll } from "./give-back.ts";
import type { RoundRuntime } from "./round-runtime.ts";

/** The right to evict one pod: its reservation stands in the Leases of all its budgets. */
export interface Ticket {
	readonly clusterId: string;
	readonly pod: PodReference;
	/** The reservation's id. Never shown: who names it may evict the pod. */
	readonly id: string;
	readonly budgets: readonly BudgetName[];
	readonly resourceVersion: string;
	/** Of a pod that somebody keeps changing: how often. */
	readonly changesEveryMs?: number;
	/** The pod's labels as they were counted: with others it may be under other budgets. */
	readonly labels: Readonly<Record<string, string>>;
	/** On the clock of the runtime, taken before the commit was sent. */
	readonly grantedAt: number;
}

/**
 * What the API server answered to an eviction; from carryOut(), to all that went out under one ticket. `R`: what the caller
 * keeps of a refusal (status code, message).
 */
export type EvictionAnswer<R> =
	/** The pod goes, at its own pace. */
	| { readonly kind: "accepted" }
	| { readonly kind: "gone" }
	/**
	 * The pod is another one, or another version of it (409), so that nothing has happened. From carryOut(): it is not the pod
	 * that was granted any more, or its reservation does not stand any more; ask for a round again.
	 */
	| { readonly kind: "conflict"; readonly message?: string }
	/** Nobody knows whether it was carried out: the reservation stands until there is evidence, or the fence ends it. */
	| { readonly kind: "unknown"; readonly error: unknown }
	| { readonly kind: "refused"; readonly refusal: R };

export interface Evictor<R> {
	evict(
		pod: PodReference,
		preconditions: { readonly uid: string; readonly resourceVersion: string },
		reservationId: string,
	): Promise<EvictionAnswer<R>>;
	/** A consistent read of this very pod: another uid under the name is `gone`. */
	read(pod: PodReference): Promise<FoundPod>;
}

export type FoundPod =
	| { readonly kind: "gone" }
	| { readonly kind: "terminating" }
	| {
			readonly kind: "present";
			readonly resourceVersion: string;
			readonly labels: Readonly<Record<string, string>>;
			/** Names of pre-activities that hold this pod back. */
			readonly preActivities: readonly string[];
	  };

/**
 * Older reservations are confirmed before they are used: a version that has grown old meets a 409, and a 409 uses up a
 * disruption of a native PodDisruptionBudget for two minutes.
 */
export const freshForMs = 1_000;
/** Of a pod that changes five times a second, a twentieth of the time. */
const lookForChangeEveryMs = 10;
/** How long the right moment is waited for: a machine that is too slow for it must get on as well. */
export const patientForMs = 10_000;
/** A pod whose annotations change all the time gives a 409 each time; the next round sees a newer version. */
const maxAttempts = 8;

/** Evicts the pod of a ticket. `cluster` is the pod's own. */
export async function carryOut<R>(
	ticket: Ticket,
	cluster: Cluster,
	evictor: Evictor<R>,
	runtime: Pick<RoundRuntime, "now" | "sleep" | "onLeftBehind">,
): Promise<EvictionAnswer<R>> {
	const { pod, id, changesEveryMs } = ticket;
	let resourceVersion = ticket.resourceVersion;
	let mustConfirm = changesEveryMs !== undefined || runtime.now() - ticket.grantedAt > freshForMs;
	let unknown: { readonly error: unknown } | undefined;
	for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
		if (mustConfirm) {
			const found = await confirmAnew(ticket, cluster, evictor, runtime);
			if (found.kind === "gone") return { kind: "gone" };
			if (found.kind === "terminating") return { kind: "accepted" };
			if (found.kind === "lost") {
				await cancelTicket(ticket, cluster, runtime, { sent: true });
				return { kind: "conflict", message: `pod ${pod.namespace}/${pod.name} ${found.why} before it was evicted` };
			}
			resourceVersion = found.resourceVersion;
		}
		const answer = await evictor.evict(pod, { uid: pod.uid, resourceVersion }, id);
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
				break;
		}
		mustConfirm = true;
	}
	if (unknown) return { kind: "unknown", error: unknown.error };
	await cancelTicket(ticket, cluster, runtime, { sent: true });
	return {
		kind: "conflict",
		message: `pod ${pod.namespace}/${pod.name} changed ${maxAttempts} times while it was being evicted`,
	};
}

type Confirmed =
	| { readonly kind: "gone" }
	| { readonly kind: "terminating" }
	| { readonly kind: "lost"; readonly why: string }
	| { readonly kind: "stands"; readonly resourceVersion: string };

/**
 * Reads, then confirms. A busy pod right after a change, and once more where that took too long: an eviction under a native
 * PodDisruptionBudget takes the API server up to 100 ms, and only at its end does it look at the version.
 */
async function confirmAnew<R>(
	ticket: Ticket,
	cluster: Cluster,
	evictor: Evictor<R>,
	runtime: Pick<RoundRuntime, "now" | "sleep">,
): Promise<Confirmed> {
	const { pod, changesEveryMs } = ticket;
	const patientUntil = runtime.now() + patientForMs;
	for (;;) {
		let readAt = runtime.now();
		let found = await evictor.read(pod);
		if (changesEveryMs !== undefined && found.kind === "present") {
			const read = (): Promise<FoundPod> => evictor.read(pod);
			({ found, readAt } = await readAfterChange(changesEveryMs, found.resourceVersion, read, runtime));
		}
		if (found.kind !== "present") return { kind: found.kind };
		if (!sameLabels(found.labels, ticket.labels)) return { kind: "lost", why: "got other labels" };
		const [preActivity] = found.preActivities;
		if (preActivity !== undefined) return { kind: "lost", why: `got the pre-activity ${preActivity}` };
		if (!(await standsEverywhere(ticket, cluster))) return { kind: "lost", why: "lost its reservation" };
		const now = runtime.now();
		const isLate = changesEveryMs !== undefined && isTooLate(now - readAt, changesEveryMs);
		if (!isLate || now >= patientUntil) return { kind: "stands", resourceVersion: found.resourceVersion };
	}
}

/** Reads until the pod has another version, or it is long past the time for that; `readAt`: before the change was asked for. */
export async function readAfterChange(
	changesEveryMs: number,
	version: string,
	read: () => Promise<FoundPod>,
	runtime: Pick<RoundRuntime, "now" | "sleep">,
): Promise<{ readonly found: FoundPod; readonly readAt: number; readonly changed: boolean }> {
	const until = runtime.now() + 2 * changesEveryMs;
	for (;;) {
		await runtime.sleep(lookForChangeEveryMs, new AbortController().signal);
		const readAt = runtime.now();
		const found = await read();
		const changed = found.kind !== "present" || found.resourceVersion !== version;
		if (changed || runtime.now() >= until) return { found, readAt, changed };
	}
}

/** Of a busy pod, so long after a change: the next one may come before the eviction has ended. */
export function isTooLate(sinceMs: number, changesEveryMs: number): boolean {
	return sinceMs > changesEveryMs / 4;
}

async function standsEverywhere(ticket: Ticket, cluster: Cluster): Promise<boolean> {
	const answers = await Promise.all(ticket.budgets.map((budget) => cluster.confirm(budget, [ticket.id])));
	return answers.length > 0 && answers.every(Boolean);
}

function sameLabels(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
	const keys = Object.keys(a);
	return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}

/**
 * Ends the reservation of a ticket in the Leases of all its budgets. `sent`: whether an eviction may have gone out on it.
 * What fails is left to the fence, and `onLeftBehind` hears of it.
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
