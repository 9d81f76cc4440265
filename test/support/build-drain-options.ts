import type { DrainOptions } from "../../plugin/drain/drain.ts";

export const drainOptions: DrainOptions = {
	force: true,
	ignoreDaemonSets: true,
	deleteEmptyDirData: true,
	skipWaitAfterSeconds: 0,
	podSelector: "",
	chunkSize: 500,
	deletes: false,
	replaced: false,
	timeoutMs: 0,
	gracePeriodSeconds: -1,
	maxNodes: 1,
	order: { kind: "none" },
	dryRun: "none",
};
