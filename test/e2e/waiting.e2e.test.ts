// Tests on real clusters what a waiting run prints: which pods use the budget up, why, and when that changes.
import { afterEach, expect, test } from "vitest";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { createDatabase, type Database } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { getJson, podsPath } from "./get-json.ts";
import { eventually, kubectl } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { startPlugin } from "./plugin-process.ts";

interface PodList {
	readonly items: readonly {
		readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
	}[];
}

async function strand({ namespace }: Database, context: string): Promise<void> {
	const { items } = await getJson<{ readonly items: readonly { readonly metadata: { readonly name: string } }[] }>(
		context,
		"/api/v1/nodes",
	);
	await kubectl(context, ["cordon", ...items.map(({ metadata }) => metadata.name)]);
	await kubectl(context, ["delete", "pod", "db-0", "-n", namespace]);
	await eventually(`a pod in ${context} that no node takes`, async () => {
		const pods = await getJson<PodList>(context, podsPath(namespace, { labelSelector: "app=db" }));
		return pods.items.some(({ status }) =>
			status.conditions?.some(({ type, status: is }) => type === "PodScheduled" && is === "False"),
		);
	});
}

const uncordon = (context: string) => kubectl(context, ["uncordon", "-l", "kubernetes.io/hostname"]);

describeOnFleet("a pod that waits", () => {
	afterEach(uncordonAll);

	test("says which pod no node takes, and at once that it is another one now", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const pods = await database.pods();
		await strand(database, "c1");
		const name = `${database.namespace}/db-0`;
		const words = "Pending \\w+, 0/\\d+ nodes are available: \\d+ node\\(s\\) were unschedulable";
		using run = startPlugin(
			evictArgs(
				database,
				pods.find(({ context }) => context === "c2"),
				"--timeout",
				"300s",
			),
		);
		await run.printed(new RegExp(`pod ${name} waits: .*; used by ${name} in c1: ${words}\\n`));
		await strand(database, "c3");
		await run.printed(new RegExp(`budget .* is now used by ${name} in c1: ${words}; ${name} in c3: ${words}\\n`));
		await uncordon("c1");
		await run.printed(new RegExp(`budget .* is now used by ${name} in c3: ${words}\\n`));
		await run.printed(new RegExp(`progress 0/1 pods, 1 waiting for budget .* \\(${name} in c3: Pending \\w+\\)\\n`));
		await uncordon("c3");
		const { code, stdout, stderr } = await run.finished;
		expect(code, stdout + stderr).toBe(0);
		expect(stdout).toContain("pod/db-0 evicted\n");
		await database.ready();
	});
});
