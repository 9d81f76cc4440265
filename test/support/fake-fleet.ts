// A fleet in memory: members with pods and budgets, Leases that never expire, and API servers whose evictions remove pods. Counts subtract
// reservations, commits compare the nonce, and evictions compare the version.
import type { BudgetName } from "../../disruption/budget/budget.ts";
import type {
	AcquireOptions,
	AcquireOutcome,
	AcquireRequest,
	Acquisition,
	CandidateState,
	CommitOutcome,
	Count,
	Grant,
	LookRequest,
	MemberBudget,
} from "../../disruption/budget/cluster.ts";
import type { BudgetsOfMember } from "../../disruption/budget/coverage-judgement.ts";
import { AgentUnavailableError, GarbledLeaseError, LeaseLostError } from "../../disruption/errors.ts";
import { fleetHash } from "../../disruption/budget/fleet.ts";
import { preActivitiesOf } from "../../disruption/budget/pod.ts";
import { matchesSelector, parseLabelSelector } from "../../disruption/budget/selector.ts";
import { ApiError } from "../../plugin/kubernetes/api-error.ts";
import type { KubeContext } from "../../plugin/kubernetes/kube-context.ts";
import { FleetUncoveredError } from "../../plugin/terminal/errors.ts";
import type {
	AgentCluster,
	AgentDescription,
	BudgetList,
	WatchOptions,
	WatchUnsupported,
} from "../../proto/agent-cluster.ts";
import { newClient, newContext, notFound } from "./build-context.ts";

export interface FakePod {
	readonly name: string;
	readonly uid: string;
	labels: Readonly<Record<string, string>>;
	annotations: Readonly<Record<string, string>>;
	healthy: boolean;
	finished: boolean;
	pending?: boolean;
	version: number;
}

export interface FakeEviction {
	readonly cluster: string;
	readonly pod: string;
	readonly reserved: boolean;
	readonly body: unknown;
}

export const namespace = "shop";

export class FakeFleet {
	/** The members that the run is connected to. */
	members: readonly FakeMember[];
	/** The members in ConfigMap xpdb-fleet. */
	declared: readonly FakeMember[];
	reconnects = 0;
	readonly evictions: FakeEviction[] = [];
	/** Pods whose eviction was accepted in a dry run, as CLUSTER/NAME. */
	readonly dryRuns: string[] = [];
	budgets: MemberBudget[] = [];
	/** The errors that answer the next evictions, in order. */
	readonly refusals: ApiError[] = [];
	/** The most pods that were unavailable right after an eviction. */
	mostUnavailable = 0;
	onEviction: () => void = () => undefined;
	/** Delays each eviction before it is sent, as obtaining credentials does. */
	beforeSending: () => Promise<void> | void = () => undefined;

	constructor(names: readonly string[]) {
		this.members = names.map((name) => new FakeMember(name, this));
		this.declared = this.members;
	}

	/** Declares a new member that the run does not know yet. */
	declare(name: string): FakeMember {
		const member = new FakeMember(name, this);
		this.declared = [...this.declared, member];
		return member;
	}

	async reconnect(): Promise<void> {
		this.reconnects += 1;
		for (const member of this.declared) member.requireUp("Describe");
		const others = this.declared.filter((member) => member.hash !== this.hash).map(({ name }) => name);
		if (others.length > 0) throw new FleetUncoveredError("Cannot", [`${others.join()}: declares another fleet`]);
		this.members = this.declared;
	}

	get hash(): string {
		return fleetHash(this.declared.map(({ id }) => id));
	}

	member(name: string): FakeMember {
		const member = this.members.find((each) => each.name === name);
		if (!member) throw new Error(`no member ${name}`);
		return member;
	}

	memberOf(context: string): AgentCluster | undefined {
		return this.members.find(({ name }) => name === context);
	}

	async listBudgets(namespaces: readonly string[]): Promise<readonly BudgetsOfMember[]> {
		this.lists += 1;
		for (const member of this.members) member.requireUp("ListBudgets");
		const lists = await Promise.all(
			this.members.map(async (member) => {
				const { fleetHash: hash, budgets } = await member.listBudgets();
				const wanted = budgets.filter(({ name }) => namespaces.includes(name.namespace));
				const { id: clusterId, name: clusterName, tookMs } = member;
				return { clusterId, clusterName, fleetHash: hash, budgets: wanted, tookMs };
			}),
		);
		await this.onList();
		return lists;
	}

	/** Called before listBudgets() returns. */
	onList: () => Promise<void> | void = () => undefined;
	/** Number of listBudgets() calls. */
	lists = 0;

	addBudget(name: string, spec: Readonly<Record<string, unknown>>): void {
		this.budgets.push({ name: { namespace, name }, spec: { selector: { matchLabels: { app: "db" } }, ...spec } });
	}

	note(): void {
		const pods = this.declared.flatMap((member) => [...member.pods.values()]);
		const expected = this.declared.reduce((sum, { expected: pods }) => sum + pods, 0);
		this.mostUnavailable = Math.max(this.mostUnavailable, expected - pods.filter(({ healthy }) => healthy).length);
	}
}

export class FakeMember implements AgentCluster {
	readonly id: string;
	readonly name: string;
	readonly context: KubeContext;
	/** By UID. */
	readonly pods = new Map<string, FakePod>();
	/** Reservation IDs by pod UID. */
	readonly reservations = new Map<string, string>();
	expected = 0;
	isDown = false;
	readonly ownBudgets: MemberBudget[] = [];
	/** Set if the member declares another fleet. */
	otherHash: string | undefined;
	/** The member's API server waits for this before it answers an eviction. */
	slow: Promise<void> | undefined;
	/** How long the member's budget lists claim to have taken. */
	tookMs = 0;
	/** Number of pod reads. */
	reads = 0;
	/** Whether the member's Leases cannot be read. */
	isGarbled = false;
	looks = 0;
	rounds = 0;
	onLook: () => void = () => undefined;
	onConfirm: () => void = () => undefined;
	/** Called before the API server answers a pod read. */
	onRead: () => Promise<void> | void = () => undefined;
	readonly #fleet: FakeFleet;
	/** The acquisition that holds the Lease, by budget name. */
	readonly #held = new Map<string, Acquisition>();
	#version = 10;

	constructor(name: string, fleet: FakeFleet) {
		this.id = `id-${name}`;
		this.name = name;
		this.#fleet = fleet;
		this.context = newContext(
			name,
			newClient({
				get: (path) => this.#get(path),
				post: (path, body) => this.#evict(path, body),
				delete: (path, body) => this.#evict(path, { deleteOptions: body }),
				wait: () => this.#fleet.beforeSending(),
			}),
		);
	}

	get hash(): string {
		return this.otherHash ?? this.#fleet.hash;
	}

	get budgets(): readonly MemberBudget[] {
		return [...this.#fleet.budgets, ...this.ownBudgets];
	}

	change(pod: FakePod, fields: Partial<FakePod> = {}): void {
		this.#version += 1;
		Object.assign(pod, fields, { version: this.#version });
	}

	addPod(name: string, { healthy = true, finished = false, labels = { app: "db" } }: Partial<FakePod> = {}): FakePod {
		this.#version += 1;
		const uid = `uid-${this.name}-${name}-${this.#version}`;
		const pod = { name, uid, labels, annotations: {}, healthy, finished, version: this.#version };
		this.pods.set(pod.uid, pod);
		this.expected += 1;
		return pod;
	}

	requireUp(call: string): void {
		if (this.isDown) throw new AgentUnavailableError(`cannot call ${call}`, this.name);
	}

	#requireReadable(): void {
		if (this.isGarbled) throw new GarbledLeaseError(`cannot read Lease "db" in cluster "${this.name}"`);
	}

	readonly listLeases = async (): Promise<readonly never[]> => [];
	readonly endHolding = async (): Promise<boolean> => false;
	async watchBudgets(_namespaces: readonly string[], _options: WatchOptions): Promise<WatchUnsupported> {
		return { kind: "unsupported" };
	}

	async acquire(request: AcquireRequest, options: AcquireOptions): Promise<AcquireOutcome> {
		await Promise.resolve();
		this.requireUp("Acquire");
		this.#requireReadable();
		while (this.#held.has(request.budget.name)) {
			if (!options.wait) return { kind: "held", position: 1, holder: "someone", heldForMs: 0 };
			await new Promise((resolve) => {
				setImmediate(resolve);
			});
			options.signal.throwIfAborted();
		}
		this.rounds += 1;
		const { budget, nonce } = request;
		const acquisition = { budget, nonce, leaseUid: "lease", leaseTransitions: this.rounds };
		this.#held.set(budget.name, acquisition);
		return { kind: "acquired", acquisition, count: this.#count(request), leaseDurationMs: 10_000 };
	}

	async count(acquisition: Acquisition, request: AcquireRequest): Promise<Count> {
		this.#requireHeld(acquisition);
		return this.#count(request);
	}

	async renew(acquisition: Acquisition): Promise<void> {
		this.#requireHeld(acquisition);
	}

	async commit(acquisition: Acquisition, grants: readonly Grant[]): Promise<CommitOutcome> {
		this.requireUp("Commit");
		if (!this.#isHeld(acquisition)) return { kind: "lost", reason: "not held" };
		for (const { id, pod } of grants) this.reservations.set(pod.uid, id);
		this.#held.delete(acquisition.budget.name);
		return { kind: "stood" };
	}

	async release(acquisition: Acquisition): Promise<void> {
		if (this.#isHeld(acquisition)) this.#held.delete(acquisition.budget.name);
	}

	async confirm(_budget: BudgetName, ids: readonly string[]): Promise<boolean> {
		this.requireUp("Confirm");
		this.onConfirm();
		this.#requireReadable();
		const standing = [...this.reservations.values()];
		return ids.every((id) => standing.includes(id));
	}

	async cancel(_budget: BudgetName, ids: readonly string[]): Promise<void> {
		this.requireUp("Cancel");
		for (const [uid, id] of this.reservations) if (ids.includes(id)) this.reservations.delete(uid);
	}

	get description(): AgentDescription {
		const { id: clusterId, name: clusterName, hash } = this;
		const members = this.#fleet.declared.map(({ id, name }) => ({ id, name, address: "" }));
		return {
			clusterId,
			clusterName,
			version: "",
			features: [],
			members,
			fleetHash: hash,
			leaseNamespace: "xpdb-system",
		};
	}

	async describe(): Promise<AgentDescription> {
		this.requireUp("Describe");
		return this.description;
	}

	async listBudgets(): Promise<BudgetList> {
		return { clusterId: this.id, fleetHash: this.hash, budgets: this.budgets };
	}

	async look(request: LookRequest): Promise<Count> {
		this.looks += 1;
		this.onLook();
		this.requireUp("Count");
		this.#requireReadable();
		return this.#count(request);
	}

	#requireHeld(acquisition: Acquisition): void {
		this.requireUp("Renew");
		if (!this.#isHeld(acquisition)) throw new LeaseLostError("not held");
	}

	#isHeld({ budget, nonce }: Acquisition): boolean {
		return this.#held.get(budget.name)?.nonce === nonce;
	}

	#count({ budget, selector, candidates, thisBudgetAlone: alone }: LookRequest): Count {
		const selected = [...this.pods.values()].filter(({ labels }) => matchesSelector(selector, labels));
		const healthy = selected.filter((pod) => pod.healthy && !pod.finished && !this.reservations.has(pod.uid));
		const unavailable = selected
			.filter((pod) => !healthy.includes(pod))
			.map(({ name, uid }) => ({
				namespace,
				name,
				why: this.reservations.has(uid) ? ("Reserved" as const) : ("NotReady" as const),
			}));
		return {
			clusterId: this.id,
			clusterName: this.name,
			fleetHash: this.hash,
			features: [],
			budgets: alone ? this.budgets.filter(({ name }) => name.name === budget.name) : this.budgets,
			expected: { kind: "known", pods: this.expected },
			healthy: healthy.length,
			candidates: candidates.map((pod): CandidateState => {
				const found = this.pods.get(pod.uid);
				if (!found) return { kind: "gone", pod };
				if (found.finished) return { kind: "free", pod, why: "Finished" };
				return {
					kind: "present",
					pod,
					healthy: found.healthy,
					resourceVersion: String(found.version),
					labels: found.labels,
					preActivities: preActivitiesOf(found.annotations),
					...(this.reservations.has(pod.uid) && { reservedBy: { holder: "someone", sinceSeconds: 0 } }),
				};
			}),
			unavailable,
		};
	}

	async #get(path: string): Promise<unknown> {
		this.reads += 1;
		await this.onRead();
		const pod = this.#find(path.split("/")[6] ?? "");
		const { name, uid, labels, annotations } = pod;
		return {
			metadata: { name, namespace, uid, resourceVersion: String(pod.version), labels, annotations },
			status: { phase: pod.pending ? "Pending" : pod.finished ? "Succeeded" : "Running" },
		};
	}

	#find(name: string): FakePod {
		const pod = [...this.pods.values()].find((each) => each.name === name);
		if (!pod) throw notFound(`pods "${name}" not found`);
		return pod;
	}

	async #evict(path: string, body: unknown): Promise<unknown> {
		if (this.slow) await this.slow;
		this.#fleet.onEviction();
		const pod = this.#find(path.split("/")[6] ?? "");
		const { dryRun = [], preconditions: { uid, resourceVersion } = {} } = deleteOptionsOf(body);
		if (
			(uid !== undefined && uid !== pod.uid) ||
			(resourceVersion !== undefined && resourceVersion !== String(pod.version))
		) {
			throw new ApiError("the precondition does not hold", { code: 409, reason: "Conflict" });
		}
		const refusal = this.#fleet.refusals.shift();
		if (refusal) throw refusal;
		if (dryRun.includes("All")) {
			this.#fleet.dryRuns.push(`${this.name}/${pod.name}`);
			return {};
		}
		this.#fleet.evictions.push({ cluster: this.name, pod: pod.name, reserved: this.reservations.has(pod.uid), body });
		this.pods.delete(pod.uid);
		this.reservations.delete(pod.uid);
		this.#fleet.note();
		return {};
	}
}

function deleteOptionsOf(body: unknown): {
	readonly dryRun?: readonly string[];
	readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
} {
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the plugin's own request
	return (body as { readonly deleteOptions?: ReturnType<typeof deleteOptionsOf> }).deleteOptions ?? {};
}

export const databaseSelector = parseLabelSelector({ matchLabels: { app: "db" } }, "spec.selector");
