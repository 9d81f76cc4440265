// The budget's Lease in one cluster: who holds it, and which of its pods are reserved.
//
// Guarantee: each function here that returns a changed Lease makes one step from the Lease that was read. The changed Lease is written with
// the resourceVersion of the Lease that was read. An acquisition is the Lease's uid, its transitions and a nonce. It stands only while the
// Lease is held by exactly that acquisition. A commit that finds anything else writes nothing (held-under.ts, also for optimistic holds). A
// run that takes a Lease over keeps its state, including the reservations. No time that another process wrote is ever compared with a
// clock.
import { createHash } from "node:crypto";
import { type BudgetName, formatBudgetName } from "../budget/budget.ts";
import type { Acquisition, Grant } from "../budget/cluster.ts";
import { AgentProtocolError, GarbledLeaseError } from "../errors.ts";
import type { LeaseObject } from "./lease-object.ts";
import { formatState, isWholeNumber, type LeaseState, parseState, stateAnnotation } from "./lease-text.ts";
import type { ControllerReference } from "../budget/pod.ts";
import { quote, shorten } from "../quote.ts";
import { controllerKey, rememberControllers } from "./remembered-controllers.ts";
import type { Reservation } from "./reservation.ts";
import { isResourceVersion, latestResourceVersion } from "../resource-version.ts";

/** Long enough for a round over a slow link (three round trips of a second, with room), and short enough to wait for after a crash. */
export const leaseDurationMs = 10_000;
/**
 * A caller that was handed the Lease in line may have died during its wait. It must show a sign of life within this time after its answer
 * was sent, or the agent that handed the Lease over releases it. Two round trips of a second fit in.
 */
export const handoverDurationMs = 2_000;
/** The lease duration of 10 s, minus 2 s for the answer to arrive and the first renewal to come back. A count that takes longer fails. */
export const longestCountMs = 8_000;
/** About a third of the lease duration, so two renewals may be lost. */
export const renewIntervalMs = 3_000;
/**
 * The API server's limit for all annotations together is 256 KiB (validation.TotalAnnotationSizeLimitB). With a pod name of 63 characters
 * and an id of 22 (128 bits in base64url), a reservation takes 160 bytes. So 1,500 reservations leave 21 KiB for other annotations. With
 * UUIDs as ids it takes 174 bytes, and 1,500 just fit.
 */
export const maxAnnotationBytes = 262_144;

export const budgetAnnotation = "xpdb.form3.tech/budget";
export const namespaceLabel = "xpdb.form3.tech/budget-namespace";

export interface BudgetLease {
	readonly name: string;
	readonly uid: string;
	readonly resourceVersion: string;
	readonly budget: BudgetName;
	/** "" if the Lease has no holder. */
	readonly holder: string;
	readonly durationMs: number;
	readonly transitions: number;
	/** When it was acquired, by the clock of the agent that wrote it, for people. Undefined if the next write sets it. */
	readonly acquireTime: string | undefined;
	readonly state: LeaseState;
	/** Labels and annotations include those of other writers, which a write keeps. */
	readonly labels: Readonly<Record<string, string>>;
	readonly annotations: Readonly<Record<string, string>>;
}

/** Caches names by budget, because one step on a Lease needs its name about ten times. */
const leaseNames = new Map<string, string>();
/** A hundred budgets for each of ten concurrent drains. */
const maxLeaseNames = 1_000;

/** The name is a hash of the budget's namespace and name, but not of its selector, which can change. */
export function leaseName(budget: BudgetName): string {
	const shown = formatBudgetName(budget);
	const known = leaseNames.get(shown);
	if (known !== undefined) return known;
	const name = `xpdb-${createHash("sha256").update(shown).digest("hex").slice(0, 40)}`;
	if (leaseNames.size >= maxLeaseNames) leaseNames.clear();
	leaseNames.set(shown, name);
	return name;
}

/** Ends a message that asks a person to delete an unusable Lease. The shipped policy refuses the deletion to every user. */
export const whileNobodyDrains =
	"while no drain runs anywhere in the fleet: ValidatingAdmissionPolicy xpdb-leases refuses that to every user, so delete its " +
	"binding first (kubectl delete validatingadmissionpolicybinding xpdb-leases), and apply it again afterwards " +
	"(kubectl apply -f agent/deploy/policies.yaml)";

/** Caches parsed Leases as long as their objects live. Each count parses all Leases of a namespace, and the watch keeps the objects. */
const readLeases = new WeakMap<LeaseObject, BudgetLease>();

/** Throws GarbledLeaseError if any part of the Lease cannot be understood. `cluster` is for people. */
export function parseLease(lease: LeaseObject, cluster?: string): BudgetLease {
	const known = readLeases.get(lease);
	if (known) return known;
	const garbled = (what: string): GarbledLeaseError =>
		new GarbledLeaseError(
			`cannot read Lease "${shorten(lease.name)}" of budget "${shorten(lease.annotations[budgetAnnotation] ?? "unknown")}"` +
				`${cluster === undefined ? "" : ` in cluster "${cluster}"`}: ${what}. ` +
				`Nothing is granted under this budget until the Lease is deleted, ${whileNobodyDrains}`,
		);
	if (lease.unreadable !== undefined) throw garbled(lease.unreadable);
	const [namespace, name, ...rest] = (lease.annotations[budgetAnnotation] ?? "").split("/");
	if (!namespace || !name || rest.length > 0) throw garbled(`annotation ${budgetAnnotation} is not NAMESPACE/NAME`);
	const budget = { namespace, name };
	if (leaseName(budget) !== lease.name) throw garbled(`annotation ${budgetAnnotation} names another budget`);
	const { holderIdentity = "", leaseDurationSeconds = 1, leaseTransitions = 0 } = lease.spec;
	const text = lease.annotations[stateAnnotation];
	if (text === undefined) throw garbled(`annotation ${stateAnnotation} is missing`);
	// The API server and the wire messages keep transitions in 32 bits.
	if (!isWholeNumber(leaseTransitions) || leaseTransitions >= 2 ** 31)
		throw garbled(`its spec.leaseTransitions is ${quote(leaseTransitions)}`);
	const state = parseState(text, garbled);
	if ((state.phase === "held") !== (holderIdentity !== ""))
		throw garbled(`its holder and its phase "${state.phase}" contradict each other`);
	if (state.phase === "held" && state.nonce === "") throw garbled("it is held without a nonce");
	const read: BudgetLease = {
		name: lease.name,
		uid: lease.uid,
		resourceVersion: lease.resourceVersion,
		budget,
		holder: holderIdentity,
		durationMs: Math.min(Math.max(leaseDurationSeconds, 1) * 1000, leaseDurationMs),
		transitions: leaseTransitions,
		acquireTime: lease.spec.acquireTime,
		state,
		labels: lease.labels,
		annotations: lease.annotations,
	};
	readLeases.set(lease, read);
	return read;
}

export function acquisitionOf(lease: BudgetLease): Acquisition {
	return { budget: lease.budget, leaseUid: lease.uid, leaseTransitions: lease.transitions, nonce: lease.state.nonce };
}

/** Whether this acquisition is the Lease's latest one, held or already ended. */
export function isLatest(lease: BudgetLease, acquisition: Acquisition): boolean {
	return (
		lease.uid === acquisition.leaseUid &&
		lease.transitions === acquisition.leaseTransitions &&
		lease.state.nonce === acquisition.nonce
	);
}

export function stands(lease: BudgetLease, acquisition: Acquisition): boolean {
	return isLatest(lease, acquisition) && lease.state.phase === "held";
}

export const newState: LeaseState = {
	nonce: "",
	phase: "released",
	renewals: 0,
	observed: "",
	reservations: [],
	controllers: [],
};

/**
 * Takes a free or expired Lease, with its reservations. The caller has checked that the Lease may be taken. Throws AgentProtocolError if
 * the holder or the nonce is empty.
 */
export function acquired(
	lease: BudgetLease,
	by: { readonly holder: string; readonly nonce: string; readonly durationMs: number },
): BudgetLease {
	// If written, an empty holder or nonce would make the Lease unreadable for all agents.
	if (by.holder === "" || by.nonce === "") {
		throw new AgentProtocolError(
			`cannot acquire Lease of budget "${formatBudgetName(lease.budget)}" without holder and nonce`,
		);
	}
	return {
		...lease,
		holder: by.holder,
		durationMs: by.durationMs,
		transitions: lease.transitions + 1,
		acquireTime: undefined,
		state: { ...lease.state, nonce: by.nonce, phase: "held", renewals: 0 },
	};
}

export function renewed(lease: BudgetLease): BudgetLease {
	return { ...lease, durationMs: leaseDurationMs, state: { ...lease.state, renewals: lease.state.renewals + 1 } };
}

export function released(lease: BudgetLease): BudgetLease {
	return { ...lease, holder: "", durationMs: 1000, state: { ...lease.state, phase: "released" } };
}

/**
 * Adds the reservations and releases the Lease in one step, even without grants. Throws AgentProtocolError for a grant that cannot be
 * reserved.
 */
export function committed(lease: BudgetLease, grants: readonly Grant[], sinceSeconds: number): BudgetLease {
	const reservations = grants.map((grant): Reservation => {
		assertReservable(grant, lease.budget);
		const { id, pod, resourceVersion } = grant;
		return { id, uid: pod.uid, name: pod.name, resourceVersion, holder: lease.holder, sinceSeconds, cancelling: false };
	});
	return {
		...lease,
		holder: "",
		durationMs: 1000,
		state: {
			...lease.state,
			phase: "committed",
			reservations: [...lease.state.reservations, ...reservations],
			controllers: rememberControllers(
				lease.state.controllers,
				grants.map((grant) => grant.controller),
			),
		},
	};
}

/** Throws AgentProtocolError if the grant would become a reservation that cannot be read. */
export function assertReservable({ id, pod, resourceVersion }: Grant, budget: BudgetName): void {
	const readable = id !== "" && pod.uid !== "" && pod.name !== "" && isResourceVersion(resourceVersion);
	// A reservation has no namespace of its own: its pod is in the budget's namespace.
	if (readable && pod.namespace === budget.namespace) return;
	throw new AgentProtocolError(
		`cannot reserve pod "${pod.namespace}/${pod.name}" under budget "${formatBudgetName(budget)}": ` +
			`it needs an id, a uid, a resourceVersion (is ${quote(resourceVersion)}) and the budget's namespace`,
	);
}

/**
 * Ends these reservations. `observed` is the version that shows the end of their pods: of the evidence, or of the fence's read. It is "" if
 * nothing showed it.
 */
export function withoutReservations(lease: BudgetLease, ids: ReadonlySet<string>, observed = ""): BudgetLease {
	const { state } = lease;
	return {
		...lease,
		state: {
			...state,
			observed: latestResourceVersion(state.observed, observed),
			reservations: state.reservations.filter((reservation) => !ids.has(reservation.id)),
		},
	};
}

export function withObserved(lease: BudgetLease, observed: string): BudgetLease {
	return withoutReservations(lease, new Set(), observed);
}

/**
 * Replaces an `observed` that no view can ever reach, because etcd was restored from a backup. `listed` is the version of a consistent list
 * that began after this very Lease was read. Nothing else lowers `observed`.
 */
export function withObservedFromRestore(lease: BudgetLease, listed: string): BudgetLease {
	return { ...lease, state: { ...lease.state, observed: listed } };
}

/** Marks these reservations as being cancelled: their holders may no longer send an eviction. */
export function marked(lease: BudgetLease, ids: ReadonlySet<string>): BudgetLease {
	const reservations = lease.state.reservations.map((reservation) =>
		ids.has(reservation.id) ? { ...reservation, cancelling: true } : reservation,
	);
	return { ...lease, state: { ...lease.state, reservations } };
}

/** Forgets these controllers, because they no longer exist. `keys` come from controllerKey(). */
export function withoutControllers(lease: BudgetLease, keys: ReadonlySet<string>): BudgetLease {
	const controllers = lease.state.controllers.filter((controller) => !keys.has(controllerKey(controller)));
	return { ...lease, state: { ...lease.state, controllers } };
}

export function withControllers(lease: BudgetLease, seen: readonly ControllerReference[]): BudgetLease {
	return { ...lease, state: { ...lease.state, controllers: rememberControllers(lease.state.controllers, seen) } };
}

/** Returns all annotations of the Lease as they will be written. */
export function annotationsOf(
	lease: Pick<BudgetLease, "budget" | "annotations" | "state">,
): Readonly<Record<string, string>> {
	return {
		...lease.annotations,
		[budgetAnnotation]: formatBudgetName(lease.budget),
		[stateAnnotation]: formatState(lease.state),
	};
}

/** Whether the API server would accept the Lease's annotations, including those of others. */
export function fits(lease: BudgetLease): boolean {
	const encoder = new TextEncoder();
	let bytes = 0;
	for (const [key, value] of Object.entries(annotationsOf(lease))) bytes += encoder.encode(key + value).length;
	return bytes <= maxAnnotationBytes;
}
