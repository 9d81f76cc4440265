import type { Database, Pod } from "./database.ts";

/** Returns the arguments to evict one pod, in the operator's context of the pod's cluster. */
export function evictArgs(
	{ namespace }: Pick<Database, "namespace">,
	pod: Pick<Pod, "name" | "context"> | undefined,
	...flags: readonly string[]
): readonly string[] {
	return ["evict", pod?.name ?? "", "-n", namespace, "--context", `${pod?.context}-operator`, ...flags];
}
