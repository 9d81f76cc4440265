// Judges one plugin process by what its command promises besides keeping the budgets.
//
// - A dry run changes no pod and no node, and requests no Lease.
// - A paused process requests no round and sends no eviction.
// - After it was stopped, a process requests no round and sends no eviction. After its timeout, a pod gets no round of its own, and no
//   eviction.
// - A node that is reported as drained has no pods, and its pods are evicted in the chosen order.
import type { RoundRequest } from "../../disruption/round/acquire-leases.ts";
import type { PodRecord } from "../../disruption/budget/pod.ts";
import type { EvictionJob } from "../../plugin/evictions/eviction-job.ts";
import type { DrainData } from "./scenario.ts";
import type { SimulatedCluster } from "./simulated-cluster.ts";

export class CommandJudge {
	readonly #data: DrainData;
	readonly #stop: AbortSignal;
	readonly #bug: (error: Error) => void;
	/** By the pod's uid. */
	readonly #timeouts = new Map<string, AbortSignal>();
	/** Counts pauses and resumes: odd while the process is paused. */
	#pauses = 0;

	constructor(data: DrainData, stop: AbortSignal, bug: (error: Error) => void) {
		this.#data = data;
		this.#stop = stop;
		this.#bug = bug;
	}

	pauses(): void {
		if (!this.#isPaused) this.#pauses += 1;
	}

	resumes(): void {
		if (this.#isPaused) this.#pauses += 1;
	}

	evicts({ pod, timeout }: EvictionJob): void {
		this.#timeouts.set(pod.uid, timeout.signal);
	}

	asksForRound({ candidates }: Pick<RoundRequest, "candidates">): void {
		this.takesLease();
		if (this.#isPaused) this.#broken("a round is asked for in a pause");
		if (candidates.every(({ pod }) => this.#isOver(pod.uid))) this.#broken("a round is asked for after its end");
	}

	takesLease(): void {
		if (this.#data.dryRun) this.#broken("a dry run asks for a Lease");
	}

	/** Called when an eviction or a delete of this pod is written, with or without a reservation. */
	sends(uid: string): void {
		if (this.#isPaused) this.#broken("an eviction is sent in a pause");
		if (this.#isOver(uid)) this.#broken("an eviction is sent after its end");
	}

	changed(what: string): void {
		if (this.#data.dryRun) this.#broken(`${what} by a dry run`);
	}

	/** Called when a pod was evicted or deleted. `pod` is its state before that. */
	evicted({ server }: SimulatedCluster, pod: PodRecord): void {
		const { orderBy, nodes } = this.#data;
		if (!nodes || orderBy === undefined) return;
		const value = (each: PodRecord): string => each.labels[orderBy] ?? "";
		const earlier = server.pods().find((each) => each.node === pod.node && value(each) < value(pod));
		if (earlier) this.#broken(`pod ${pod.name} is evicted before pod ${earlier.name} is gone`);
	}

	saysDrained({ server }: SimulatedCluster, node: string): void {
		const left = server.pods().find((pod) => pod.node === node);
		if (left) this.#broken(`node ${node} is said to be drained, and pod ${left.name} is on it`);
	}

	get #isPaused(): boolean {
		return this.#pauses % 2 === 1;
	}

	#isOver(uid: string): boolean {
		return this.#stop.aborted || (this.#timeouts.get(uid)?.aborted ?? false);
	}

	#broken(message: string): void {
		this.#bug(new Error(message));
	}
}
