// The shipped watches of a simulated agent on pods and Leases, over a connection to its simulated API server. Each line of a watch and each
// fault of a stream is a step of the schedule.
import type { ClusterApi } from "../../agent/cluster-api/cluster-api.ts";
import { createPodCalls } from "../../agent/cluster-api/pod-calls.ts";
import { createPodProjection } from "../../agent/cluster-api/pod-projection.ts";
import { readWatchedLease } from "../../agent/cluster-api/read-lease.ts";
import { createApiAsker } from "../../agent/kubernetes/api-asker.ts";
import type { ApiAnswer, ApiConnection, ApiStreamOptions } from "../../agent/kubernetes/api-connection.ts";
import type { SeenVersions } from "../../agent/kubernetes/seen-versions.ts";
import { startWatch, type Watch } from "../../agent/kubernetes/watch.ts";
import type { WatchSink } from "../../agent/kubernetes/watch-sink.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import { running } from "./await-points.ts";
import type { Step } from "./scheduler.ts";
import type { Carrier } from "./simulated-api.ts";
import type { SimulatedApiServer } from "./simulated-api-server.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import { SimulatedStream } from "./simulated-stream.ts";
import {
	bookmarkLine,
	expiredLine,
	type StreamedCollection,
	streamedLeases,
	streamedPods,
} from "./streamed-collection.ts";
import { WatchClock } from "./watch-clock.ts";

/** Longer than a view stays alive without a sign of life (5 s). The shipped constant is not used, because it is under test. */
const viewHoldsForMs = 10_000;

export interface StreamFaults {
	readonly mayFail: () => boolean;
	/** Called before a stream fails. */
	readonly failing: () => void;
	readonly streamsLists: () => boolean;
}

interface StreamedViewsOptions {
	readonly process: SimulatedProcess;
	readonly server: SimulatedApiServer;
	readonly versions: SeenVersions;
	readonly carry: Carrier;
	readonly session: () => number;
	readonly pods: WatchSink<PodRecord>;
	readonly leases: WatchSink<LeaseObject>;
	readonly faults: StreamFaults;
}

export class StreamedViews {
	readonly listSelectedPods: ClusterApi["listSelectedPods"];
	readonly #options: StreamedViewsOptions;
	readonly #connection: ApiConnection;
	readonly #clock: WatchClock;
	readonly #collections: readonly StreamedCollection[];
	#streams: readonly SimulatedStream[] = [];
	#watches: readonly Watch[] = [];
	/** When the watch on pods last ended normally, if no later one broke. */
	#podsEndedAt = Number.NEGATIVE_INFINITY;

	constructor(options: StreamedViewsOptions) {
		const { server, process } = options;
		this.#options = options;
		this.#clock = new WatchClock(process.clock);
		this.#collections = [streamedPods(server), streamedLeases(server)];
		this.#connection = this.#connect();
		const { listSelectedPods } = createPodCalls(createApiAsker(this.#connection), createPodProjection());
		this.listSelectedPods = listSelectedPods;
	}

	get areOpen(): boolean {
		return this.#streams.length === this.#collections.length && this.#streams.every(({ isFollowing }) => isFollowing);
	}

	/** Whether the watch on pods shows events as they come, or ended normally a moment ago and will continue from there. */
	get hasPodView(): boolean {
		const { clock } = this.#options.process;
		return this.#podStream !== undefined || clock.now() - this.#podsEndedAt < viewHoldsForMs;
	}

	start(): void {
		const { pods, leases, server } = this.#options;
		const common = { connection: this.#connection, clock: this.#clock, random: () => 0.5, warn: () => undefined };
		const [podsWatched, leasesWatched] = this.#collections;
		if (!podsWatched || !leasesWatched) throw new Error("no collections");
		const project = (object: unknown): LeaseObject => readWatchedLease(object, server.clusterId);
		this.#watches = [
			startWatch({ ...common, resource: podsWatched.resource, project: createPodProjection(), sink: pods }),
			startWatch({ ...common, resource: leasesWatched.resource, project, sink: leases, listsAnew: true }),
		];
	}

	close(): void {
		for (const watch of this.#watches) watch.close();
	}

	/** Ends the connection with all its streams. A view whose watch had ended normally before does not learn of it. */
	breaks(): void {
		if (this.#streams.some(({ collection }) => collection.what === "pod")) this.#podsEndedAt = Number.NEGATIVE_INFINITY;
		for (const stream of this.#streams) stream.breaks(this.#unavailable("the connection broke"));
		this.#streams = [];
	}

	/** Whether the watch on pods has an event that it has not shown. */
	get hasPodEvent(): boolean {
		return this.#podStream?.next()?.garbled !== undefined;
	}

	/** Delivers the next event of a pod as a line that cannot be read. */
	garblesPodEvent(): void {
		const stream = this.#podStream;
		const garbled = stream?.next()?.garbled;
		if (stream && garbled) this.#showBadLine(stream, garbled());
		this.#dropEnded();
	}

	/** Ends the watch on pods normally, as its server does every few minutes. */
	endsPodWatch(): void {
		if (this.#podStream) this.#ends(this.#podStream);
		this.#dropEnded();
	}

	/** The revision of the list with which the watch on pods begins anew. Undefined if it is not listing. */
	get podsListedAt(): number | undefined {
		return this.#streams.find(({ collection, listsAt }) => collection.what === "pod" && listsAt !== undefined)?.listsAt;
	}

	get #podStream(): SimulatedStream | undefined {
		return this.#streams.find(({ isFollowing, collection }) => isFollowing && collection.what === "pod");
	}

	signOfLife(): void {
		for (const stream of this.#streams) stream.signOfLife();
	}

	/** Shows all lines that the chosen streams have now. Returns false if there were none. */
	seesEverything({ pods, leases }: { readonly pods: boolean; readonly leases: boolean }): boolean {
		let any = false;
		for (const stream of this.#streams) {
			if (!(stream.collection.what === "pod" ? pods : leases) || stream.isOver) continue;
			if (!stream.isOpen) stream.open();
			while (stream.isOpen && stream.showNext()) any = true;
		}
		this.#dropEnded();
		return any;
	}

	addSteps(steps: Step[]): void {
		const { process } = this.#options;
		const add = (kind: "watch" | "fault", what: string, run: () => void): void => {
			const happens = (): void => {
				process.learns(() => what);
				if (kind === "fault") this.#options.faults.failing();
				running.run(process, run);
				this.#dropEnded();
			};
			steps.push({ kind, actor: process.name, what, run: happens });
		};
		const pause = this.#clock.nextPause();
		if (pause) add("watch", "opens a watch again", () => this.#clock.fire(pause));
		this.#dropEnded();
		for (const stream of this.#streams) this.#addStepsOf(stream, add);
	}

	#addStepsOf(stream: SimulatedStream, add: (kind: "watch" | "fault", what: string, run: () => void) => void): void {
		const { server, faults } = this.#options;
		const { what } = stream.collection;
		if (!stream.isOpen) {
			add("watch", `opens its watch of ${what}s`, () => stream.open());
			return;
		}
		const next = stream.next();
		if (next) add("watch", `sees ${what} ${next.what}`, () => void stream.showNext());
		else if (what === "pod" && this.#isWaitedFor()) {
			const version = String(server.revision);
			add("watch", `sees that no pod changed until ${version}`, () => stream.show(bookmarkLine(version)));
		}
		if (!faults.mayFail()) return;
		add("fault", `its watch of ${what}s ends in good order`, () => this.#ends(stream));
		add("fault", `its watch of ${what}s has expired`, () => this.#showBadLine(stream, expiredLine));
		const garbled = next?.garbled;
		if (garbled)
			add("fault", `sees ${what} ${next.what} and cannot read it`, () => this.#showBadLine(stream, garbled()));
		const silence = this.#clock.nextSilence();
		if (stream.isListing && silence) add("fault", "a streamed list falls silent", () => this.#clock.fire(silence));
	}

	#ends(stream: SimulatedStream): void {
		if (stream.collection.what === "pod" && stream.isFollowing) this.#podsEndedAt = this.#options.process.clock.now();
		stream.end();
	}

	#showBadLine(stream: SimulatedStream, line: string): void {
		if (stream.collection.what === "pod") this.#podsEndedAt = Number.NEGATIVE_INFINITY;
		stream.show(line);
	}

	/** Whether a bookmark may be news: a process that waits for a version has a timer and has not seen the server's revision. */
	#isWaitedFor(): boolean {
		const { process, server, versions } = this.#options;
		return process.clock.next() !== undefined && Number(versions.mark("pods").version || "0") !== server.revision;
	}

	#dropEnded(): void {
		if (this.#streams.some(({ isOver }) => isOver)) this.#streams = this.#streams.filter(({ isOver }) => !isOver);
	}

	#connect(): ApiConnection {
		const { server, versions, carry, session } = this.#options;
		return {
			cluster: server.clusterId,
			versions,
			silentMs: 0,
			connected: true,
			get session() {
				return session();
			},
			request: ({ path }) => {
				const collection = this.#collectionAt(path);
				const token = new URLSearchParams(path.slice(path.indexOf("?"))).get("continue") ?? "";
				const resource = collection.what === "pod" ? "pods" : "leases";
				return carry({
					verb: "list",
					resource,
					name: "",
					detail: token,
					execute: (): ApiAnswer => collection.page(token),
				});
			},
			stream: (asked) => this.#openStream(asked),
			close: () => this.breaks(),
		};
	}

	#openStream(asked: ApiStreamOptions): Promise<ApiAnswer | undefined> {
		const { server, process, faults } = this.#options;
		const { streamsLists } = faults;
		const collection = this.#collectionAt(asked.path);
		const stream = new SimulatedStream({ server, collection, asked, streamsLists, now: () => process.clock.now() });
		if (process.alive) this.#streams = [...this.#streams, stream];
		return stream.ended;
	}

	#collectionAt(path: string): StreamedCollection {
		// All simulated pods are in one namespace.
		const listed = path.replace(/^\/api\/v1\/namespaces\/[^/]+\/pods\?/, "/api/v1/pods?");
		const found = this.#collections.find(({ resource }) => listed.startsWith(`${resource.path}?`));
		if (!found) throw new Error(`nothing is simulated at ${path}`);
		return found;
	}

	#unavailable(why: string): AgentUnavailableError {
		const { clusterId } = this.#options.server;
		return new AgentUnavailableError(`cannot watch in cluster "${clusterId}": ${why}`, clusterId);
	}
}
