// The budget's Lease in one cluster: who holds it, and which of its pods are spoken for.
//
// Guarantee: every function here is a step from one read Lease to the next one to be written with that Lease's
// resourceVersion. An acquisition is the Lease's uid, its transitions and a nonce, and stands only while the Lease is
// held by exactly that one: a commit that finds anything else writes nothing (held-under.ts, with holds that were never
// written). Who took the Lease over took it from the state it read, reservations included. No time that somebody else wrote
// is ever compared with a clock.
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

/** Long enough for a round over a slow link (three trips of a second, with room), short enough to wait out after a crash. */
export const leaseDurationMs = 10_000;
/**
 * A caller that was handed the Lease in line may have died while it waited: it has to show life within this after its
 * answer was sent, or the agent that handed the Lease over gives it back. Two trips of a second.
 */
export const handoverDurationMs = 2_000;
/** The 10 s of a lease, without 2 s for the answer to arrive and the first renewal to come back: a count over that fails. */
export const longestCountMs = 8_000;
/** A third of the lease duration: two renewals may be lost. */
export const renewIntervalMs = 3_000;
/**
 * Annotations end at 256 KiB, all of them together (validation.TotalAnnotationSizeLimitB). With a pod name of 63 characters
 * one reservation takes 160 bytes where ids have 22 characters (128 bits in base64url), so that 1,500 leave 21 KiB for
 * other annotations; with UUIDs as ids it takes 174, and 1,500 just fit.
 */
export const maxAnnotationBytes = 262_144;

export const budgetAnnotation = "xpdb.form3.tech/budget";
export const namespaceLabel = "xpdb.form3.tech/budget-namespace";

/** The Lease as the domain reads it. */
export interface BudgetLease {
	readonly name: string;
	readonly uid: string;
	readonly resourceVersion: string;
	readonly budget: BudgetName;
	/** "" where nobody holds it. */
	readonly holder: string;
	readonly durationMs: number;
	readonly transitions: number;
	/** When it was acquired, by the acquirer's clock; for people. Undefined: at the next write. */
	readonly acquireTime: string | undefined;
	readonly state: LeaseState;
	/** Everything that stands there, of others too: a write keeps it. */
	readonly labels: Readonly<Record<string, string>>;
	readonly annotations: Readonly<Record<string, string>>;
}

/** Those that were asked for lately: one step on a Lease asks for its name some ten times. */
const leaseNames = new Map<string, string>();
/** A hundred budgets for each of ten drains at once. */
const maxLeaseNames = 1_000;

/** The Lease's name: a hash of the budget's namespace and name, because a selector can change. */
export function leaseName(budget: BudgetName): string {
	const shown = formatBudgetName(budget);
	const known = leaseNames.get(shown);
	if (known !== undefined) return known;
	const name = `xpdb-${createHash("sha256").update(shown).digest("hex").slice(0, 40)}`;
	if (leaseNames.size >= maxLeaseNames) leaseNames.clear();
	leaseNames.set(shown, name);
	return name;
}

/** How a person may delete a Lease that no agent can use: the shipped policy refuses it to everybody. */
export const whileNobodyDrains =
	"while no drain runs anywhere in the fleet: ValidatingAdmissionPolicy xpdb-leases refuses that to everybody, so delete its " +
	"binding first (kubectl delete validatingadmissionpolicybinding xpdb-leases), and apply it again afterwards " +
	"(kubectl apply -f agent/deploy/policies.yaml)";

/** What was read of a Lease, for as long as somebody has it: each count reads all of a namespace, as the watch has them. */
const readLeases = new WeakMap<LeaseObject, BudgetLease>();

/** Reads a Lease; throws GarbledLeaseError where any part of it cannot be understood. `cluster` is for people. */
export function parseLease(lease: LeaseObject, cluster?: string): BudgetLease {
	const known = readLeases.get(lease);
	if (known) return known;
	const garbled = (what: string): GarbledLeaseError =>
		new GarbledLeaseError(
			`Cannot read Lease "${shorten(lease.name)}" of budget "${shorten(lease.annotations[budgetAnnotation] ?? "unknown")}"` +
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
	// The API server keeps them in 32 bits, and so do messages.
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

/** Whether this acquisition is the Lease's latest, whatever became of it. */
export function isLatest(lease: BudgetLease, acquisition: Acquisition): boolean {
	return (
		lease.uid === acquisition.leaseUid &&
		lease.transitions === acquisition.leaseTransitions &&
		lease.state.nonce === acquisition.nonce
	);
}

/** Whether the acquisition stands: the latest one, and not given back or committed since. */
export function stands(lease: BudgetLease, acquisition: Acquisition): boolean {
	return isLatest(lease, acquisition) && lease.state.phase === "held";
}

/** The state of a Lease that is made now. */
export const newState: LeaseState = {
	nonce: "",
	phase: "released",
	renewals: 0,
	observed: "",
	reservations: [],
	controllers: [],
};

/** Takes the Lease, free or expired, with what is reserved in it. Never looks at who held it: that is judged before. */
export function acquired(
	lease: BudgetLease,
	by: { readonly holder: string; readonly nonce: string; readonly durationMs: number },
): BudgetLease {
	// Written, either of them would make a Lease that nobody can read any more.
	if (by.holder === "" || by.nonce === "") {
		throw new AgentProtocolError(
			`Cannot acquire Lease of budget "${formatBudgetName(lease.budget)}" without holder and nonce`,
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

/** Adds the reservations and gives the Lease back, in one step; also where nothing is granted. */
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

/** Throws AgentProtocolError where nobody could read the reservation again that this grant would become. */
export function assertReservable({ id, pod, resourceVersion }: Grant, budget: BudgetName): void {
	const readable = id !== "" && pod.uid !== "" && pod.name !== "" && isResourceVersion(resourceVersion);
	// A reservation has no namespace of its own: it speaks of a pod in the budget's.
	if (readable && pod.namespace === budget.namespace) return;
	throw new AgentProtocolError(
		`Cannot reserve pod "${pod.namespace}/${pod.name}" under budget "${formatBudgetName(budget)}": ` +
			`it needs an id, a uid, a resourceVersion (is ${quote(resourceVersion)}) and the budget's namespace`,
	);
}

/** Ends these reservations; `observed` is how far the evidence had come, where it was evidence. */
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
 * Takes back an `observed` that no view can ever reach, because etcd was restored from a backup: to the version of a
 * consistent list that began after this very Lease was read. Nothing else lowers it.
 */
export function withObservedFromRestore(lease: BudgetLease, listed: string): BudgetLease {
	return { ...lease, state: { ...lease.state, observed: listed } };
}

/** Marks these reservations as being cancelled: their holders may send nothing any more. */
export function marked(lease: BudgetLease, ids: ReadonlySet<string>): BudgetLease {
	const reservations = lease.state.reservations.map((reservation) =>
		ids.has(reservation.id) ? { ...reservation, cancelling: true } : reservation,
	);
	return { ...lease, state: { ...lease.state, reservations } };
}

/** Forgets controllers that are gone for good: nobody has the name any more. `keys` are those of controllerKey. */
export function withoutControllers(lease: BudgetLease, keys: ReadonlySet<string>): BudgetLease {
	const controllers = lease.state.controllers.filter((controller) => !keys.has(controllerKey(controller)));
	return { ...lease, state: { ...lease.state, controllers } };
}

/** Remembers what a count saw: see remembered-controllers.ts. */
export function withControllers(lease: BudgetLease, seen: readonly ControllerReference[]): BudgetLease {
	return { ...lease, state: { ...lease.state, controllers: rememberControllers(lease.state.controllers, seen) } };
}

/** All annotations of the Lease as it is to be written. */
export function annotationsOf(
	lease: Pick<BudgetLease, "budget" | "annotations" | "state">,
): Readonly<Record<string, string>> {
	return {
		...lease.annotations,
		[budgetAnnotation]: formatBudgetName(lease.budget),
		[stateAnnotation]: formatState(lease.state),
	};
}

/** Whether the API server would take the Lease's annotations, those of others included. */
export function fits(lease: BudgetLease): boolean {
	const encoder = new TextEncoder();
	let bytes = 0;
	for (const [key, value] of Object.entries(annotationsOf(lease))) bytes += encoder.encode(key + value).length;
	return bytes <= maxAnnotationBytes;
}
