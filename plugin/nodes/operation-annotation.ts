// Writes the annotation that a drain leaves on its nodes, together with the cordon, and changes it when the node is drained. Cordoning a
// node takes over another run's annotation. After that, the run never touches another run's annotation. Each write names the version that
// was read.
import type { V1Node } from "@kubernetes/client-node";
import type { EventSink, NodeName } from "../events/events.ts";
import { ApiError, ConnectionError, errorText } from "../kubernetes/api-error.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import { type CordonResult, setUnschedulable } from "./cordon.ts";
import { NodeHold } from "./node-hold.ts";
import { type NodeTarget, nodeTarget } from "./node-target.ts";
import {
	formatOperation,
	type Operation,
	operationAnnotation,
	type OperationReading,
	parseOperation,
} from "./operation.ts";

interface NodeObject {
	readonly metadata?: {
		readonly resourceVersion?: string;
		readonly annotations?: Readonly<Record<string, string>>;
	};
}

/** How many times to try if other clients write the node between our read and our write. Kubelets write every few seconds at most. */
const maxConflicts = 5;

type RunOperation = Omit<Operation, "state" | "cordonedBefore"> & { readonly holder: string };

/** `now` is monotonic, and includes the time that the machine slept. */
interface HoldClock {
	readonly now: () => number;
	readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class OperationAnnotations {
	readonly #operation: RunOperation;
	readonly #emit: EventSink;
	readonly #clock: HoldClock;
	#isResumptionTold = false;
	readonly #annotated = new Map<string, { readonly operation: Operation; readonly hold: NodeHold }>();

	constructor(operation: RunOperation, emit: EventSink, clock: HoldClock) {
		this.#operation = operation;
		this.#emit = emit;
		this.#clock = clock;
	}

	/** Whether all of these nodes can be found by the run's id. */
	hasAll(nodes: readonly NodeTarget[]): boolean {
		return nodes.every((node) => this.#annotated.has(key(node)));
	}

	/** Returns the run's hold on the node. Undefined if the annotation could not be written. */
	hold(node: NodeTarget): NodeHold | undefined {
		return this.#annotated.get(key(node))?.hold;
	}

	/**
	 * Returns the id of the operation that the node belongs to now. Once this run has lost the node, that is the one that took it, or none.
	 */
	operationOf(node: NodeName): string | undefined {
		const hold = this.#annotated.get(`${node.context} ${node.node}`)?.hold;
		return hold?.lost.aborted ? hold.heldBy : this.#operation.id;
	}

	/** Cordons and takes the node, even if another run holds it. If the node changed meanwhile, it is read again before it is written. */
	async cordon(node: NodeTarget): Promise<CordonResult> {
		const { context, name } = node;
		const path = `/api/v1/nodes/${encodeURIComponent(name)}`;
		const cordoning = { desired: true, dryRun: "none", emit: this.#emit, annotations: {} } as const;
		const readAnew = async () => {
			const found = await context.client.get<V1Node>(path);
			return { target: nodeTarget(context, found), resourceVersion: found.metadata?.resourceVersion };
		};
		let current: Awaited<ReturnType<typeof readAnew>>;
		try {
			current = await readAnew();
		} catch (error) {
			return setUnschedulable(node, { ...cordoning, write: () => Promise.reject(error) });
		}
		let operation = this.#operationFor(current.target);
		const write = async (patch: Readonly<Record<string, object>>): Promise<void> => {
			for (let attempt = 1; ; attempt += 1) {
				const { target, resourceVersion } = current;
				operation = this.#operationFor(target);
				const annotations = { [operationAnnotation]: formatOperation(operation) };
				try {
					const metadata = { annotations, ...(resourceVersion !== undefined && { resourceVersion }) };
					await context.client.patch(`${path}?fieldManager=${fieldManager}`, { ...patch, metadata });
					this.#tellTakenOver(target);
					return;
				} catch (error) {
					if (!(error instanceof ApiError && error.code === 409) || attempt >= maxConflicts) throw error;
					current = await readAnew();
				}
			}
		};
		const result = await setUnschedulable(current.target, { ...cordoning, ours: !operation.cordonedBefore, write });
		if (result === "done") {
			const read = async (): Promise<OperationReading | undefined> => {
				const { metadata } = await context.client.get<NodeObject>(path);
				const text = metadata?.annotations?.[operationAnnotation];
				return text === undefined ? undefined : parseOperation(text);
			};
			const { holder } = this.#operation;
			this.#annotated.set(key(node), { operation, hold: new NodeHold(node, { holder, read, ...this.#clock }) });
		}
		return result;
	}

	#operationFor(node: NodeTarget): Operation {
		return { ...this.#operation, state: "draining", cordonedBefore: wasCordonedBefore(node, this.#operation.id) };
	}

	/**
	 * Reports that another run loses the node. That run may be over, or may continue elsewhere and notice before its next step, unless its
	 * version is 0.1. If that run belongs to the same operation, this is reported only once.
	 */
	#tellTakenOver({ name, context, unschedulable, operation: found }: NodeTarget): void {
		const other = found?.kind === "operation" ? found.operation : undefined;
		if (other?.state !== "draining" || !unschedulable) return;
		const stops =
			other.holder === undefined
				? "if that run of version 0.1 still goes on, it does not stop by itself"
				: "if that run still goes on, it stops before its next step";
		const about = { type: "diagnostic", reason: "TakenOver" } as const;
		if (other.id !== this.#operation.id) {
			const message = `node "${name}" is taken over from operation ${other.id} of ${other.by}: ${stops}`;
			this.#emit({ ...about, level: "warning", context: context.name, node: name, message });
		} else if (!this.#isResumptionTold) {
			this.#isResumptionTold = true;
			const message = `operation ${other.id} is taken over from the run of ${other.by}: ${stops}`;
			this.#emit({ ...about, level: "info", message });
		}
	}

	/** Marks the node as drained, if it still has this run's annotation. A run that has taken the node over keeps its own. */
	async drained(node: NodeTarget): Promise<void> {
		const { operation } = this.#annotated.get(key(node)) ?? {};
		if (!operation) return;
		try {
			const text = formatOperation({ ...operation, state: "drained" });
			await patchAnnotated(node, operation, { metadata: { annotations: { [operationAnnotation]: text } } });
		} catch (error) {
			if (!(error instanceof ApiError || error instanceof ConnectionError)) throw error;
			const message = `node "${node.name}" is drained, but could not be marked so: ${errorText(error)}`;
			this.#emit({ type: "diagnostic", level: "warning", context: node.context.name, message });
		}
	}
}

/** Patches the node only while it carries this operation's annotation, and this holder if one is given. Otherwise returns false. */
export async function patchAnnotated(
	node: NodeTarget,
	{ id, holder }: Pick<Operation, "id" | "holder">,
	patch: Readonly<Record<string, object>>,
): Promise<boolean> {
	const { client } = node.context;
	const path = `/api/v1/nodes/${encodeURIComponent(node.name)}`;
	for (let attempt = 1; ; attempt += 1) {
		const { metadata } = await client.get<NodeObject>(path);
		const reading = parseOperation(metadata?.annotations?.[operationAnnotation] ?? "");
		if (reading.kind !== "operation" || reading.operation.id !== id) return false;
		if (holder !== undefined && reading.operation.holder !== holder) return false;
		try {
			const resourceVersion = metadata?.resourceVersion;
			await client.patch(`${path}?fieldManager=${fieldManager}`, {
				...patch,
				metadata: { ...patch["metadata"], resourceVersion },
			});
			return true;
		} catch (error) {
			if (!(error instanceof ApiError && error.code === 409) || attempt >= maxConflicts) throw error;
		}
	}
}

/**
 * Whether another user or tool had cordoned the node before. The cordon of an unfinished run counts as that of the run that resumes it or
 * takes the node over.
 */
function wasCordonedBefore({ unschedulable, cordonedByOthers, operation: found }: NodeTarget, id: string): boolean {
	if (!unschedulable) return false;
	if (found?.kind !== "operation" || cordonedByOthers) return true;
	const { operation } = found;
	return operation.id === id || operation.state === "draining" ? operation.cordonedBefore : true;
}

function key({ context, name }: NodeTarget): string {
	return `${context.name} ${name}`;
}
