import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { findCacheFolder, isCacheFolder } from "../../../plugin/kubernetes/cache-folder.ts";

describe("findCacheFolder()", () => {
	const rows: readonly {
		readonly name: string;
		readonly env: NodeJS.ProcessEnv;
		readonly folder: string | undefined;
	}[] = [
		{ name: "beside kubectl's in the home", env: { HOME: "/home/ann" }, folder: "/home/ann/.kube/cache/kubectl-xpdb" },
		{
			name: "where kubectl is told to keep its own",
			env: { HOME: "/home/ann", KUBECACHEDIR: "/var/k" },
			folder: "/var/k/kubectl-xpdb",
		},
		{ name: "nowhere without a home", env: {}, folder: undefined },
		{ name: "never in a folder that depends on where one is", env: { HOME: "home" }, folder: undefined },
	];
	for (const { name, env, folder } of rows) test(name, () => expect(findCacheFolder(env)).toBe(folder));
});

test("a home in which no folder can be made is as good as none", () => {
	expect(isCacheFolder("/proc/nowhere/.kube/cache/kubectl-xpdb")).toBe(false);
	expect(existsSync("/proc/nowhere")).toBe(false);
});
