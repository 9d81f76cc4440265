import type { Database, Pod } from "./database.ts";

/** `evict` of one pod of the database, by the operator of the pod's own context. */
export function evictArgs(
	{ namespace }: Pick<Database, "namespace">,
	pod: Pick<Pod, "name" | "context"> | undefined,
	...flags: readonly string[]
): readonly string[] {
	return ["evict", pod?.name ?? "", "-n", namespace, "--context", `${pod?.context}-operator`, ...flags];
}
