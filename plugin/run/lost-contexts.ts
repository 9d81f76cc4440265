// Lets a run in several contexts continue without those whose API servers do not answer. It warns before the question, and ends with the
// exit code for a missing answer.
import type { EventSink, RunEvent } from "../events/events.ts";
import { kubectlErrorLine } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { LostContext } from "../nodes/find-in-contexts.ts";

export function warnOfLost(lost: readonly LostContext[], emit: EventSink): void {
	for (const { context, error, named } of lost) {
		const names = named.length > 0 ? ` (${named.join(", ")})` : "";
		const message = `no answer from the API server, nothing is done in this context${names}: ${error.message}`;
		emit({ type: "diagnostic", level: "warning", context: context.name, reason: "ServerUnreachable", message });
	}
}

export function failLostNodes(lost: readonly LostContext[], emit: EventSink): void {
	for (const { context, error, named } of lost) {
		const errors = [kubectlErrorLine(error)];
		for (const node of named) {
			emit({
				type: "node.failed",
				context: context.name,
				node,
				reason: "ServerUnreachable",
				why: `no answer from the API server: ${error.message}`,
				errors,
				pending: [],
			});
		}
	}
}

interface Ended {
	readonly kind: "ended";
	readonly failures: readonly { readonly unreachable: boolean }[];
	readonly lastEvents?: readonly RunEvent[];
}

export function endWithoutLost(result: Ended, lost: readonly LostContext[] = []): Ended {
	return {
		kind: "ended",
		failures: [...result.failures, ...lost.map(() => ({ unreachable: true }))],
		lastEvents: [
			...(result.lastEvents ?? []),
			...lost.map(({ context, error }) => ({
				type: "diagnostic" as const,
				level: "error" as const,
				context: context.name,
				reason: "ServerUnreachable" as const,
				message: `nothing was done in this context: ${kubectlErrorLine(error)}`,
			})),
		],
	};
}

/** Every member of the fleet must be reachable through these contexts, or the run is refused. */
export function answeringContexts(
	contexts: readonly KubeContext[],
	lost: readonly LostContext[] = [],
): readonly KubeContext[] {
	return contexts.filter((context) => !lost.some((each) => each.context === context));
}
