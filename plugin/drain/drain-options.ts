// Reads the flags of a drain. A plan accepts them too.
import { booleanFlag, type CommandDependencies, type CommandInput, numberFlag, textFlag } from "../flags/command.ts";
import { parseDryRun } from "../flags/dry-run.ts";
import { isLabelSelector } from "../flags/label-selector-text.ts";
import { readReplaced } from "../flags/wait-until.ts";
import { UsageError } from "../terminal/errors.ts";
import type { DrainOptions } from "./drain.ts";
import { parsePodOrder } from "./pod-order.ts";

/** Throws UsageError. */
export function readDrainOptions(input: CommandInput, { streams }: CommandDependencies): DrainOptions {
	const podSelector = textFlag(input, "pod-selector");
	if (!isLabelSelector(podSelector))
		throw new UsageError("--pod-selector=<pod_selector> must be a valid label selector");
	const orderBy = textFlag(input, "order-by");
	if (orderBy === "" && input.given.has("order-by")) {
		throw new UsageError('--order-by must be a label\'s key or "priority", is ""', "Leave it out for no order");
	}
	const maxNodes = numberFlag(input, "max-nodes");
	if (maxNodes < 1) throw new UsageError(`--max-nodes must be at least 1, is ${maxNodes}`);
	return {
		dryRun: parseDryRun(textFlag(input, "dry-run"), streams.stderr),
		podSelector,
		maxNodes,
		replaced: readReplaced(input, "drain"),
		deletes: booleanFlag(input, "disable-eviction"),
		order: parsePodOrder(orderBy),
		force: booleanFlag(input, "force"),
		ignoreDaemonSets: booleanFlag(input, "ignore-daemonsets"),
		deleteEmptyDirData: booleanFlag(input, "delete-emptydir-data"),
		skipWaitAfterSeconds: numberFlag(input, "skip-wait-for-delete-timeout"),
		chunkSize: numberFlag(input, "chunk-size"),
		timeoutMs: numberFlag(input, "timeout"),
		gracePeriodSeconds: numberFlag(input, "grace-period"),
	};
}
