// A simulated process that keeps the shipped views of a cluster. The scheduler feeds them.
import { SeenVersions } from "../../agent/kubernetes/seen-versions.ts";
import type { WatchEvent } from "../../agent/kubernetes/watch-sink.ts";
import { ObjectStore } from "../../agent/views/object-views.ts";
import { PodStore } from "../../agent/views/pod-view.ts";
import { comparedWithinMs } from "../../agent/views/watch-comparison.ts";
import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { running } from "./await-points.ts";
import { type Feed, openFeed } from "./feed.ts";
import type { Step } from "./scheduler.ts";
import type { SimulatedApiServer } from "./simulated-api-server.ts";
import { type ProcessOptions, SimulatedProcess } from "./simulated-process.ts";
import { SimulatedWorkloadView } from "./simulated-workload-view.ts";
import { type Carrier, listAllPods } from "./simulated-api.ts";
import { type StreamFaults, StreamedViews } from "./streamed-views.ts";

const watchedResources = ["pods", "leases", "budgets", "workloads"] as const;
/** How long the names of budgets may be used after a comparison. The shipped constant is not used, because it is under test. */
const namesHoldForMs = 5_000;

interface WatchingOptions extends ProcessOptions {
	readonly server: SimulatedApiServer;
	/**
	 * If set, the shipped watches read pods and Leases over simulated streams. Otherwise the schedule shows the views each event itself.
	 */
	readonly streams?: StreamFaults | undefined;
}

export abstract class WatchingProcess extends SimulatedProcess {
	protected readonly server: SimulatedApiServer;
	protected readonly pods: PodStore;
	protected readonly budgets: ObjectStore<MemberBudget>;
	protected readonly leases: ObjectStore<LeaseObject>;
	protected readonly workloads: SimulatedWorkloadView;
	protected readonly versions = new SeenVersions();
	readonly #carry: Carrier;
	#feeds: readonly Feed[] = [];
	/** How often the process has started over. A list that was requested before that is not used. */
	#restarts = 0;
	protected comparedAt = Number.NEGATIVE_INFINITY;
	/** Whether the watches show life. Otherwise counts come from lists. */
	#watching = true;
	/** "broken": the watches broke with their connection. "opening": they are being reopened over a new one. */
	#connection: "whole" | "broken" | "opening" = "whole";
	protected connections = 1;
	readonly streams: StreamedViews | undefined;

	constructor(name: string, options: WatchingOptions, carry: Carrier) {
		super(name, options);
		const { server, streams: faults } = options;
		const { clock } = this;
		this.server = server;
		this.#carry = carry;
		this.pods = new PodStore({ clock });
		this.budgets = new ObjectStore<MemberBudget>({
			clock,
			keyOf: ({ name }) => `${name.namespace}/${name.name}`,
			namespaceOf: ({ name }) => name.namespace,
		});
		this.leases = new ObjectStore<LeaseObject>({ clock, keyOf: ({ name }) => name });
		this.workloads = new SimulatedWorkloadView(clock, () => this.hasCompared);
		this.versions.onWentBack(() => this.startOver());
		const { versions, pods, leases } = this;
		const session = (): number => this.connections;
		this.streams =
			faults && new StreamedViews({ process: this, server, versions, carry, session, pods, leases, faults });
	}

	/** Gets every failure. An error that the code under test should never throw is a bug. */
	protected abstract check(error: unknown): void;

	/**
	 * Whether the last comparison is recent. Comparisons happen when the feeds open and when a scenario wants them, because few steps of a
	 * run are worth a list.
	 */
	protected get hasCompared(): boolean {
		return this.clock.now() - this.comparedAt <= comparedWithinMs;
	}

	/** Starts with the first lists done at once, as at the start of a run. */
	startSynced(): void {
		this.streams?.start();
		this.#openFeeds();
		if (this.streams) {
			this.seesEverything();
			this.signOfLife();
			return;
		}
		const { server } = this;
		const { pods, resourceVersion } = server.listPods();
		this.pods.replace(pods.map(server.seenPod), resourceVersion);
		this.signOfLife();
	}

	/** Whether its watches are open: with streams, those on budgets and workloads. */
	get isStarted(): boolean {
		return this.#feeds.length > 0;
	}

	/** Starts with an empty memory. Without streams, the first list of pods goes over the network, and is repeated until it succeeds. */
	startAnew(): void {
		if (this.streams) {
			this.#watching = false;
			this.streams.start();
			return;
		}
		this.task("starts its watches", async () => {
			for (;;) {
				const connection = this.connections;
				try {
					if (!(await this.listPods())) return;
					// A watch continues from a list only over the connection on which it was read (watch-place.ts).
					if (connection === this.connections) break;
					continue;
				} catch (error) {
					this.check(error);
					const { promise, resolve } = Promise.withResolvers<void>();
					this.clock.after(1_000, resolve);
					await promise;
				}
			}
			this.#openFeeds();
			this.signOfLife();
		});
	}

	/** Called when the API server was restarted: the watches broke, and requests reach the server again. */
	loseConnection(): void {
		this.connections += 1;
		this.streams?.breaks();
		// A process that has not listed yet repeats its list until it succeeds.
		if (this.#feeds.length === 0) return;
		this.isWatching = false;
		this.#connection = "broken";
	}

	/** Called when the agent has noticed that etcd came back from a backup. */
	protected startOver(): void {
		this.learns(() => "starts over");
		this.#restarts += 1;
		for (const { sink } of this.#feeds) sink.reset();
		this.#feeds = [];
		this.#connection = "whole";
		// The watches on pods and Leases list again by themselves.
		this.#watching = this.streams === undefined;
		if (!this.streams) this.startAnew();
	}

	die(): void {
		this.alive = false;
		this.#feeds = [];
		this.streams?.close();
	}

	get isSynced(): boolean {
		return this.pods.synced;
	}

	/**
	 * Whether the process can count without a list. This is judged by the run's own rules, because the shipped view's rule is under test.
	 */
	get hasView(): boolean {
		return this.isSynced && (this.streams?.hasPodView ?? this.isWatching);
	}

	/** Returns the revision up to which the process knows its pods. */
	get podRevision(): number {
		return Number(this.pods.resourceVersion || "0");
	}

	/**
	 * Returns the revision of the first change of a budget that this process has not seen. Infinite if it has seen all, or if a count would
	 * list the budgets.
	 */
	get budgetsUnseenFrom(): number {
		const feed = this.#feeds.find(({ sink }) => sink === this.budgets);
		const listsThem = !this.#watching || this.clock.now() - this.comparedAt > namesHoldForMs;
		return Number((!listsThem && feed?.log[feed.shown]?.resourceVersion) || Number.POSITIVE_INFINITY);
	}

	get isWatching(): boolean {
		return this.#watching && (this.streams?.areOpen ?? true);
	}

	set isWatching(watching: boolean) {
		if (!watching && this.streams) {
			// A watch without a sign of life ends with its connection.
			this.connections += 1;
			this.streams.breaks();
		}
		this.#watching = watching;
		for (const { sink } of this.#feeds) if (!watching) sink.watchLost();
		this.signOfLife();
	}

	/**
	 * Brings the watches back. They continue from where they were, and first show what has happened since. If their connection broke, they
	 * list again.
	 */
	watchesComeBack(): void {
		if (this.#watching || this.#connection === "opening" || !(this.streams?.areOpen ?? true)) return;
		this.learns(() => "its watches are back");
		if (this.streams) {
			this.#connection = "whole";
			this.#openFeeds();
			this.isWatching = true;
			return;
		}
		if (this.#connection === "broken") {
			this.#connection = "opening";
			this.task("opens its watches anew", () => this.#openAnew());
			return;
		}
		this.seesEverything();
		this.isWatching = true;
	}

	signOfLife(): void {
		if (this.#watching) for (const { sink } of this.#feeds) sink.signOfLife(this.clock.now());
		this.streams?.signOfLife();
	}

	/** Adds the next event of each watch, or a bookmark of the watch on pods. While the watches are lost, adds their return. */
	addWatchSteps(steps: Step[]): void {
		if (this.isStopped) return;
		this.streams?.addSteps(steps);
		if (!this.#watching) {
			const run = (): void => this.watchesComeBack();
			if (this.#connection !== "opening" && (this.streams?.areOpen ?? true))
				steps.push({ kind: "watch", actor: this.name, what: "its watches are back", run });
			return;
		}
		const { server } = this;
		for (const feed of this.#feeds) {
			const event = feed.log[feed.shown];
			if (event) {
				if (feed.next?.event !== event) feed.next = { event, step: this.#stepTo(feed, event) };
				steps.push(feed.next.step);
			} else if (feed.sink === this.pods && this.isSynced && this.podRevision < server.revision && this.clock.next()) {
				// A bookmark matters only to a process that waits for a version, which has a timer. Before its first list, a view would get
				// bookmarks forever, and the timer for that list would never fire.
				const version = String(server.revision);
				const what = `sees that no pod changed until ${version}`;
				steps.push({ kind: "watch", actor: this.name, what, run: () => this.#bookmark(version) });
			}
		}
	}

	/** Shows all that the watches have, with or without pods and Leases. Returns false if the process had seen everything. */
	seesEverything({ pods = true, leases = true }: { readonly pods?: boolean; readonly leases?: boolean } = {}): boolean {
		let any = this.streams?.seesEverything({ pods, leases }) ?? false;
		for (const feed of this.#feeds) {
			if ((!pods && feed.sink === this.pods) || (!leases && feed.sink === this.leases)) continue;
			for (; feed.shown < feed.log.length; any = true) this.#show(feed);
		}
		return any;
	}

	/**
	 * Compares the watches on budgets and workloads with lists, after they have shown everything. In production this happens every 2 s
	 * while callers need it.
	 */
	comparesBudgets(): void {
		this.learns(() => "compares its budgets");
		this.seesEverything({ pods: false, leases: false });
		this.comparedAt = this.clock.now();
	}

	/** Runs the process's own work, which is not repeated after a failure. */
	task(what: string, run: () => Promise<unknown>): void {
		this.learns(() => what);
		running.run(this, run).catch((error: unknown) => this.check(error));
	}

	override fingerprint(): string {
		return `${super.fingerprint()} ${this.#watching} ${this.#connection} ${this.#feeds.map(({ shown, log }) => log.length - shown).join(",")}`;
	}

	/** Lists all pods, as watch.ts does. Returns false if the process has started over meanwhile, and lists again. */
	protected async listPods(): Promise<boolean> {
		const restarts = this.#restarts;
		const mark = this.versions.mark("pods");
		const { pods, resourceVersion } = await listAllPods(this.server, this.#carry);
		if (restarts !== this.#restarts || this.versions.answered(mark, resourceVersion)) return false;
		this.pods.replace(pods, resourceVersion);
		return true;
	}

	/** Lists everything, as watch.ts does after a connection broke. */
	async #openAnew(): Promise<void> {
		const connection = this.connections;
		const isOpening = (): boolean => this.#connection === "opening" && connection === this.connections;
		const marks = watchedResources.map((resource) => this.versions.mark(resource));
		try {
			const { pods, resourceVersion } = await listAllPods(this.server, this.#carry);
			if (!isOpening()) return;
			this.pods.replace(pods, resourceVersion);
			const revision = String(this.server.revision);
			if (!isOpening() || marks.some((mark) => this.versions.answered(mark, revision))) return;
			this.#connection = "whole";
			this.#openFeeds();
			this.isWatching = true;
		} finally {
			if (isOpening()) this.#connection = "broken";
		}
	}

	#openFeeds(): void {
		const { server } = this;
		const revision = String(server.revision);
		this.comparedAt = this.clock.now();
		this.budgets.replace([...server.budgets.values()], revision);
		for (const resource of ["budgets", "workloads"]) this.versions.saw(resource, revision);
		this.#feeds = [
			...(this.streams ? [] : this.#openOwnFeeds(revision)),
			openFeed<MemberBudget>("budget", server.budgetEvents, this.budgets),
			this.workloads.open(server),
		];
	}

	/** Opens the feeds of pods and Leases. Runs with streams have none. */
	#openOwnFeeds(revision: string): readonly Feed[] {
		const { server } = this;
		const after = (version: string): number => {
			const next = server.podEvents.findIndex((event) => Number(event.resourceVersion) > Number(version));
			return next < 0 ? server.podEvents.length : next;
		};
		const version = this.pods.resourceVersion;
		this.leases.replace([...server.leases.values()], revision);
		this.versions.saw("pods", version);
		this.versions.saw("leases", revision);
		const podsFrom = version === "" ? server.podEvents.length : after(version);
		return [
			openFeed<PodRecord>("pod", server.podEvents, this.pods, { shown: podsFrom, read: server.seenPod }),
			openFeed<LeaseObject>("Lease", server.leaseEvents, this.leases),
		];
	}

	#stepTo(feed: Feed, { type, resourceVersion }: WatchEvent<unknown>): Step {
		const what = `sees ${feed.what} ${type} ${resourceVersion}`;
		return { kind: "watch", actor: this.name, what, run: () => running.run(this, () => this.#show(feed)) };
	}

	#show(feed: Feed): void {
		const event = feed.log[feed.shown];
		if (!event) return;
		this.learns(() => `sees ${feed.what} ${event.type} ${JSON.stringify(event.object)}`);
		feed.show();
		this.versions.saw(feed.resource, event.resourceVersion);
		feed.shown += 1;
		this.signOfLife();
	}

	#bookmark(version: string): void {
		this.learns(() => `sees no pod event until ${version}`);
		this.pods.bookmark(version);
		this.versions.saw("pods", version);
		this.signOfLife();
	}
}
