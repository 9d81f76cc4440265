// The annotation that a drain leaves on its nodes: written with the cordon, changed when the node is drained. That of another
// run is taken over by the cordon, and never touched after that.
import type { EventSink } from "../events/events.ts";
import { ApiError, ConnectionError, errorText } from "../kubernetes/api-error.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import { type CordonResult, setUnschedulable } from "./cordon.ts";
import type { NodeTarget } from "./node-target.ts";
import { formatOperation, type Operation, operationAnnotation, parseOperation } from "./operation.ts";

interface NodeObject {
	readonly metadata?: {
		readonly resourceVersion?: string;
		readonly annotations?: Readonly<Record<string, string>>;
	};
}

/** The node was written by somebody else between our read and our write; kubelets write every few seconds at most. */
const maxConflicts = 5;

export class OperationAnnotations {
	readonly #operation: Omit<Operation, "state" | "cordonedBefore">;
	readonly #emit: EventSink;
	readonly #annotated = new Map<string, Operation>();

	constructor(operation: Omit<Operation, "state" | "cordonedBefore">, emit: EventSink) {
		this.#operation = operation;
		this.#emit = emit;
	}

	/** Whether every one of these nodes can be found by the run's id. */
	hasAll(nodes: readonly NodeTarget[]): boolean {
		return nodes.every((node) => this.#annotated.has(key(node)));
	}

	async cordon(node: NodeTarget): Promise<CordonResult> {
		const { operation: found } = node;
		const other = found?.kind === "operation" ? found.operation : undefined;
		const operation: Operation = {
			...this.#operation,
			state: "draining",
			cordonedBefore: wasCordonedBefore(node, this.#operation.id),
		};
		const taken = other && other.id !== operation.id && other.state === "draining" && node.unschedulable;
		// One's own runs follow one another all the time.
		if (taken && other.by !== operation.by) {
			const message = `node "${node.name}" is taken over from operation ${other.id} of ${other.by}`;
			this.#emit({ type: "diagnostic", level: "warning", context: node.context.name, message });
		}
		const annotations = { [operationAnnotation]: formatOperation(operation) };
		const ours = !operation.cordonedBefore;
		const result = await setUnschedulable(node, { desired: true, dryRun: "none", emit: this.#emit, annotations, ours });
		if (result === "done") this.#annotated.set(key(node), operation);
		return result;
	}

	/** Only its own annotation: a run that took the node over has its own to keep. */
	async drained(node: NodeTarget): Promise<void> {
		const operation = this.#annotated.get(key(node));
		if (!operation) return;
		try {
			const text = formatOperation({ ...operation, state: "drained" });
			await patchAnnotated(node, operation.id, { metadata: { annotations: { [operationAnnotation]: text } } });
		} catch (error) {
			if (!(error instanceof ApiError || error instanceof ConnectionError)) throw error;
			const message = `node "${node.name}" is drained, but could not be marked so: ${errorText(error)}`;
			this.#emit({ type: "diagnostic", level: "warning", context: node.context.name, message });
		}
	}
}

/** Patches the node only while it carries this operation's annotation; false where it does not any more. */
export async function patchAnnotated(
	node: NodeTarget,
	id: string,
	patch: Readonly<Record<string, object>>,
): Promise<boolean> {
	const { client } = node.context;
	const path = `/api/v1/nodes/${encodeURIComponent(node.name)}`;
	for (let attempt = 1; ; attempt += 1) {
		const { metadata } = await client.get<NodeObject>(path);
		const reading = parseOperation(metadata?.annotations?.[operationAnnotation] ?? "");
		if (reading.kind !== "operation" || reading.operation.id !== id) return false;
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

/** The cordon of a run that did not finish belongs to whoever goes on: the same run, or one that takes the node over. */
function wasCordonedBefore({ unschedulable, cordonedByOthers, operation: found }: NodeTarget, id: string): boolean {
	if (!unschedulable) return false;
	if (found?.kind !== "operation" || cordonedByOthers) return true;
	const { operation } = found;
	return operation.id === id || operation.state === "draining" ? operation.cordonedBefore : true;
}

function key({ context, name }: NodeTarget): string {
	return `${context.name} ${name}`;
}
