import { afterEach, expect, test } from "vitest";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { createDatabase, type Database } from "./database.ts";
import { getJson } from "./get-json.ts";
import { eventually, kubectl } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { plugin } from "./plugin-process.ts";
import { untilAlone } from "./until-alone.ts";
import { leasesOf, writesSince } from "./writes-since.ts";

const dryRun = ["--dry-run=server", "--ignore-daemonsets", "--delete-emptydir-data"];

interface NodeObject {
	readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
	readonly spec: { readonly unschedulable?: boolean };
}

async function expectUntouched(database: Database, node: string, since: number): Promise<void> {
	expect(await writesSince(since, database)).toEqual([]);
	expect(await leasesOf(database)).toEqual([]);
	const { metadata, spec } = await getJson<NodeObject>(node.replace(/-.*/, ""), `/api/v1/nodes/${node}`);
	expect(spec.unschedulable).toBeUndefined();
	expect(Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith("xpdb"))).toEqual([]);
}

describeOnFleet("--dry-run=server under budgets of the fleet", () => {
	afterEach(uncordonAll);

	test("says for what a drain and an eviction would wait whose budget is used up, and writes nothing", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await untilAlone(database);
		const { namespace } = database;
		const pod = (await database.pods()).find(({ context }) => context === "c1");
		if (!pod) throw new Error("no pod in c1");
		await kubectl("c2", ["annotate", "pod", "db-0", "-n", namespace, "bench/ready=false"]);
		const since = Date.now() * 1_000;
		const drain = [
			"drain",
			pod.node,
			"--context",
			"c1-operator",
			`--pod-selector=database=${database.namespace}`,
			...dryRun,
		];
		let result = await plugin(drain);
		await eventually("the agents to see that a pod is not ready", async () => {
			result = await plugin(drain);
			return result.stderr.includes("would wait");
		});
		expect(result.code, result.stderr).toBe(1);
		expect(result.stdout).toBe(`node/${pod.node} cordoned (server dry run)\n`);
		const wait = `budget ${namespace}/db has no disruption left: 2 of 3 healthy, 2 required`;
		const users = `used by ${namespace}/db-0 in c2: .+`;
		expect(result.stderr).toMatch(new RegExp(`^pod ${namespace}/db-0 would wait: ${wait}; ${users}$`, "m"));
		expect(result.stderr).toContain(`error when evicting pods/"db-0" -n "${namespace}": it would wait: ${wait}`);
		expect(result.stderr).toContain(`There are pending nodes to be drained:\n ${pod.node}\n`);

		const evict = ["evict", "db-0", "-n", namespace, "--context", "c1-operator", "--dry-run=server"];
		let evicted = await plugin(evict);
		// The agent that answers this time may see changes later than the previous one.
		await eventually("the other agents to see it too", async () => {
			evicted = await plugin(evict);
			return evicted.code === 1;
		});
		expect(evicted).toMatchObject({ code: 1, stdout: "" });
		expect(evicted.stderr).toMatch(new RegExp(`^pod ${namespace}/db-0 would wait: ${wait}; ${users}$`, "m"));
		await expectUntouched(database, pod.node, since);
	});

	test("lets the pods of two clusters go that a drain would take one after the other, and writes nothing", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await untilAlone(database);
		const { namespace } = database;
		const pods = (await database.pods()).filter(({ context }) => context !== "c3");
		const nodes = pods.map(({ context, node }) => `${context}-operator/${node}`);
		await eventually("the agents to count 3 healthy pods", async () => {
			const { stdout } = await plugin(["budgets", "-n", namespace, "--contexts=c1-operator,c2-operator"]);
			return /^\S+ +db +1 +3 /m.test(stdout);
		});
		const since = Date.now() * 1_000;
		const result = await plugin([
			"drain",
			...nodes,
			"--contexts=c1-operator,c2-operator",
			`--pod-selector=database=${database.namespace}`,
			...dryRun,
		]);
		expect(result.code, result.stderr).toBe(0);
		for (const { context, node } of pods) {
			expect(result.stdout).toContain(`${context}-operator  evicting pod ${namespace}/db-0 (server dry run)\n`);
			expect(result.stdout).toContain(`${context}-operator  node/${node} drained (server dry run)\n`);
		}
		// Either pod may be judged first. The other one then waits.
		expect(result.stderr).toMatch(
			new RegExp(
				`^c[12]-operator +pod ${namespace}/db-0 would wait: budget ${namespace}/db has no disruption left: 2 of 3 healthy, 2 required; ` +
					`used by ${namespace}/db-0 in c[12]: .*this run.*$`,
				"m",
			),
		);
		for (const { node } of pods) await expectUntouched(database, node, since);
		expect((await database.pods()).length).toBe(sharedFleet().contexts.length);
	});

	test("is kubectl's own where no budget of the fleet covers the pods", async () => {
		await using database = await createDatabase({ replicas: 1 });
		await untilAlone(database);
		const pod = (await database.pods()).find(({ context }) => context === "c1");
		const args = ["--context", "c1-operator", `--pod-selector=database=${database.namespace}`, ...dryRun];
		const result = await plugin(["drain", pod?.node ?? "", ...args]);
		expect(result).toMatchObject({
			code: 0,
			stdout:
				`node/${pod?.node} cordoned (server dry run)\nevicting pod ${database.namespace}/db-0 (server dry run)\n` +
				`node/${pod?.node} drained (server dry run)\n`,
			stderr: "",
		});
	});
});
