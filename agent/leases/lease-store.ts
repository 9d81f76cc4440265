// Reads and writes the Leases of this cluster's budgets, with one step at a time on each Lease.
//
// Guarantee: every write carries the uid and resourceVersion of the Lease it was derived from, so it fails if the Lease was written in
// between. No write is derived from a Lease that was remembered over another connection, because an etcd that was restored from a backup
// may assign the same versions again. A remembered Lease is never enough to refuse a step: the step is judged again on a read that was made
// after it was requested. Expiry is judged from when this process first saw a hold, or its last renewal, on the process's own monotonic
// clock. A time that another process wrote is never used.
import { agentName, managedByLabel } from "../../disruption/agent-names.ts";
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import {
	annotationsOf,
	type BudgetLease,
	budgetAnnotation,
	leaseName,
	namespaceLabel,
	newState,
	parseLease,
} from "../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../disruption/lease/lease-text.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { compareResourceVersions } from "../../disruption/resource-version.ts";
import { type ClusterApi, ConflictError } from "../cluster-api/cluster-api.ts";
import type { Clock } from "../process/clock.ts";

/**
 * The outcome of a step on a Lease: the Lease to write, or no write. The write is sent immediately, so a step may depend on the state at
 * that instant.
 */
export type LeaseStep<T> = { readonly write: BudgetLease; readonly result: T } | { readonly result: T };

/** `N` is undefined if there may be no Lease, and thus no step. */
type Changed<T, N extends undefined = never> =
	| { readonly lease: BudgetLease; readonly result: T }
	| { readonly lease: N; readonly result: N };

/** When this process first saw a hold, and when it first saw the hold's last known sign of life. */
interface Sighting {
	readonly holding: string;
	readonly heldSince: number;
	readonly renewals: number;
	readonly aliveAt: number;
}

/** Many agents and rounds may write one Lease. Each conflict means that another one made progress. */
const maxConflicts = 20;

export interface LeaseStoreOptions {
	readonly api: ClusterApi;
	readonly clock: Clock;
	readonly cluster: string;
	/** Called before a Lease is created. Rejects if this budget must not get one. */
	readonly beforeCreating?: ((budget: BudgetName) => Promise<void>) | undefined;
	/** Called with each Lease that is read or written, or that the watch shows and that is not older than the known one. */
	readonly onSeen?: (lease: BudgetLease) => void;
}

export class LeaseStore {
	readonly #beforeCreating: ((budget: BudgetName) => Promise<void>) | undefined;
	readonly #onSeen: LeaseStoreOptions["onSeen"];
	readonly #api: ClusterApi;
	readonly #clock: Clock;
	readonly #cluster: string;
	/** The newest Leases that this process has read, written or seen in the watch, over one connection to the API server. */
	readonly #told = new Map<string, BudgetLease>();
	#toldOver: number | undefined;
	readonly #sightings = new Map<string, Sighting>();
	/** By Lease name: the end of the last step that was requested. */
	readonly #turns = new Map<string, Promise<void>>();

	constructor(options: LeaseStoreOptions) {
		this.#onSeen = options.onSeen;
		this.#beforeCreating = options.beforeCreating;
		this.#api = options.api;
		this.#clock = options.clock;
		this.#cluster = options.cluster;
	}

	/** Undefined if the budget has no Lease. */
	async read(budget: BudgetName): Promise<BudgetLease | undefined> {
		const object = await this.#api.getLease(leaseName(budget));
		if (!object) {
			this.#known.delete(leaseName(budget));
			return undefined;
		}
		return this.#note(object);
	}

	/** Returns the newest Lease of the budget that this process has read, written or seen in the watch, if any. There may be a newer one. */
	known(budget: BudgetName): BudgetLease | undefined {
		return this.#known.get(leaseName(budget));
	}

	/** Takes in a Lease that the watch shows, as a first guess for a step, and to see when a hold began. Throws GarbledLeaseError. */
	sighted(object: LeaseObject): void {
		const known = this.#known.get(object.name);
		const older =
			known?.uid === object.uid && compareResourceVersions(object.resourceVersion, known.resourceVersion) < 0;
		if (!older) this.#note(object);
	}

	/** Forgets a Lease, because the watch shows that it is gone. */
	forget(name: string): void {
		this.#known.delete(name);
		this.#sightings.delete(name);
	}

	/** Whether the hold has ended: the Lease has no holder, or its holder has shown no sign of life for longer than its duration. */
	isFree(lease: BudgetLease): boolean {
		return lease.holder === "" || this.silentForMs(lease) > lease.durationMs;
	}

	/**
	 * Returns the newest state that this process knows of a Lease that the watch shows, for people. Remembers nothing. Throws
	 * GarbledLeaseError.
	 */
	peek(object: LeaseObject): { readonly lease: BudgetLease; readonly heldForMs: number; readonly silentForMs: number } {
		const known = this.#known.get(object.name);
		const isNewer =
			known?.uid === object.uid && compareResourceVersions(known.resourceVersion, object.resourceVersion) >= 0;
		const lease = isNewer ? known : parseLease(object, this.#cluster);
		const seen = this.#sightings.get(lease.name);
		const now = this.#clock.now();
		if (seen?.holding !== holdingOf(lease)) return { lease, heldForMs: 0, silentForMs: 0 };
		return { lease, heldForMs: now - seen.heldSince, silentForMs: now - seen.aliveAt };
	}

	heldForMs(lease: BudgetLease): number {
		return this.#clock.now() - this.#sight(lease).heldSince;
	}

	/** Milliseconds since this process first saw the hold's last sign of life: its start, or its last renewal. */
	silentForMs(lease: BudgetLease): number {
		return this.#clock.now() - this.#sight(lease).aliveAt;
	}

	/**
	 * Makes one step on the budget's Lease. Creates a missing Lease if the budget may have one. After a conflict, repeats the step from a
	 * fresh read, or from what the watch has shown since. Steps on one Lease run one after the other, because in parallel they would only make
	 * each other's writes fail.
	 */
	change<T>(budget: BudgetName, step: (lease: BudgetLease) => LeaseStep<T>): Promise<Changed<T>> {
		const read = (): Promise<BudgetLease> => this.#readOrCreate(budget);
		return this.#inTurn(leaseName(budget), () => this.#changeNow<T, never>(budget, step, read));
	}

	/** Like change(), but makes no step if there is no Lease, because ending something must not create the Lease again. */
	changeExisting<T>(budget: BudgetName, step: (lease: BudgetLease) => LeaseStep<T>): Promise<Changed<T, undefined>> {
		return this.#inTurn(leaseName(budget), () => this.#changeNow(budget, step, () => this.read(budget)));
	}

	#inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
		const turn = (this.#turns.get(name) ?? Promise.resolve()).then(work);
		const ended: Promise<void> = turn.then(
			() => undefined,
			() => undefined,
		);
		this.#turns.set(name, ended);
		void ended.then(() => {
			if (this.#turns.get(name) === ended) this.#turns.delete(name);
		});
		return turn;
	}

	async #changeNow<T, N extends undefined>(
		budget: BudgetName,
		step: (lease: BudgetLease) => LeaseStep<T>,
		read: () => Promise<BudgetLease | N>,
	): Promise<Changed<T, N>> {
		const name = leaseName(budget);
		for (let conflicts = 0; conflicts < maxConflicts; ) {
			const connection = this.#api.connection();
			const known = this.#known.get(name);
			const lease = known ?? (await read());
			if (!lease) return { lease, result: lease };
			const outcome = step(lease);
			if (!("write" in outcome)) {
				if (!known) return { lease, result: outcome.result };
				this.#known.delete(name);
				continue;
			}
			this.#known.delete(name);
			// Over another connection, the version that was read may mean another state: etcd may have been restored from a backup.
			if (connection === undefined || this.#api.connection() !== connection) {
				conflicts += 1;
				continue;
			}
			try {
				const written = this.#note(await this.#api.updateLease(this.#object(outcome.write)));
				return { lease: written, result: outcome.result };
			} catch (error) {
				if (!(error instanceof ConflictError)) throw error;
				conflicts += 1;
			}
		}
		throw new AgentUnavailableError(
			`cannot write Lease of budget "${formatBudgetName(budget)}" in cluster "${this.#cluster}": others were faster ${maxConflicts} times`,
			this.#cluster,
		);
	}

	async #readOrCreate(budget: BudgetName): Promise<BudgetLease> {
		const found = await this.read(budget);
		if (found) return found;
		await this.#beforeCreating?.(budget);
		try {
			return this.#note(
				await this.#api.createLease({
					name: leaseName(budget),
					labels: labelsOf(budget, {}),
					annotations: annotationsOf({ budget, annotations: {}, state: newState }),
					spec: { leaseDurationSeconds: 1, leaseTransitions: 0 },
				}),
			);
		} catch (error) {
			if (!(error instanceof ConflictError)) throw error;
		}
		const created = await this.read(budget);
		if (created) return created;
		throw new AgentUnavailableError(
			`cannot make Lease of budget "${formatBudgetName(budget)}" in cluster "${this.#cluster}": it comes and goes`,
			this.#cluster,
		);
	}

	/**
	 * `#told`, emptied when the connection has changed: an etcd that was restored from a backup may assign the same version to another state.
	 */
	get #known(): Map<string, BudgetLease> {
		const connection = this.#api.connection();
		if (connection === undefined || connection !== this.#toldOver) this.#told.clear();
		this.#toldOver = connection;
		return this.#told;
	}

	#note(object: LeaseObject): BudgetLease {
		const known = this.#known.get(object.name);
		// This process sees its own write twice: in the answer and in the watch. It parses it once.
		const lease = known && isSame(known, object) ? known : parseLease(object, this.#cluster);
		this.#known.set(object.name, lease);
		this.#sight(lease);
		this.#onSeen?.(lease);
		return lease;
	}

	#sight(lease: BudgetLease): Sighting {
		const { state } = lease;
		const holding = holdingOf(lease);
		const seen = this.#sightings.get(lease.name);
		const same = seen?.holding === holding;
		if (same && seen.renewals === state.renewals) return seen;
		const now = this.#clock.now();
		const sighting = { holding, heldSince: same ? seen.heldSince : now, renewals: state.renewals, aliveAt: now };
		this.#sightings.set(lease.name, sighting);
		return sighting;
	}

	#object(lease: BudgetLease): LeaseObject {
		const time = `${new Date(this.#clock.wallSeconds() * 1000).toISOString().slice(0, -1)}000Z`;
		return {
			name: lease.name,
			uid: lease.uid,
			resourceVersion: lease.resourceVersion,
			labels: labelsOf(lease.budget, lease.labels),
			annotations: annotationsOf(lease),
			spec: {
				// As in client-go: a released Lease names no holder.
				...(lease.holder !== "" && { holderIdentity: lease.holder }),
				acquireTime: lease.acquireTime ?? time,
				renewTime: time,
				leaseDurationSeconds: Math.ceil(lease.durationMs / 1000),
				leaseTransitions: lease.transitions,
			},
		};
	}
}

function holdingOf({ uid, transitions, state }: BudgetLease): string {
	return [uid, transitions, state.nonce, state.phase].join(" ");
}

/**
 * Whether both are the same Lease. Compares the content too, because an etcd that was restored from a backup may assign the same version to
 * another state.
 */
function isSame(known: BudgetLease, { uid, resourceVersion, annotations, spec, unreadable }: LeaseObject): boolean {
	const { holderIdentity = "", leaseTransitions = 0 } = spec;
	return (
		unreadable === undefined &&
		uid === known.uid &&
		resourceVersion === known.resourceVersion &&
		holderIdentity === known.holder &&
		leaseTransitions === known.transitions &&
		annotations[budgetAnnotation] === known.annotations[budgetAnnotation] &&
		annotations[stateAnnotation] === known.annotations[stateAnnotation]
	);
}

function labelsOf(budget: BudgetName, others: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
	return { ...others, [namespaceLabel]: budget.namespace, [managedByLabel]: agentName };
}
