import type { Database, Pod } from "./database.ts";

/** Returns the arguments to evict one pod of the database, as the operator in the pod's own context. */
export function evictArgs(
	{ namespace }: Pick<Database, "namespace">,
	pod: Pick<Pod, "name" | "context"> | undefined,
	...flags: readonly string[]
): readonly string[] {
	return ["evict", pod?.name ?? "", "-n", namespace, "--context", `${pod?.context}-operator`, ...flags];
}
