// Changes namespaces, pods, budgets and scales during an eviction. The tests are concurrent, each in its own namespace.
import { expect, test } from "vitest";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { applyBudget, createDatabase, type Database, type DatabaseOptions } from "../database.ts";
import { evictArgs } from "../evict-args.ts";
import { getJson } from "../get-json.ts";
import { eventually, kubectl } from "../kubectl.ts";
import { letNewPodsBeReady, letPodsBeReady } from "../new-pods.ts";
import { startPlugin } from "../plugin-process.ts";
import { findLeftBehind } from "./left-behind.ts";
import { leaseLimitMs } from "./recovery-limits.ts";

const operators = () =>
	sharedFleet()
		.contexts.map((context) => `${context}-operator`)
		.join(",");

function startEvicting({ namespace }: Database, environment: Readonly<Record<string, string>> = {}) {
	const args = ["evict", "-l", "app=db", "-n", namespace, "--contexts", operators(), "-y", "--timeout", "4m"];
	return startPlugin(args, environment);
}

async function inAll(args: readonly string[]): Promise<void> {
	await Promise.all(sharedFleet().contexts.map(async (context) => await kubectl(context, args)));
}

describeOnFleet("in the middle of an eviction", () => {
	const slow: Partial<DatabaseOptions> = { annotations: { "bench/ready-after": "1s" } };

	test.concurrent("its namespace is deleted: the plugin ends, and says nothing of a bug", async () => {
		await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 }, ...slow });
		using evicting = startEvicting(database);
		await evicting.printed(/pod\/\S+ evicted/);
		await inAll(["delete", "namespace", database.namespace, "--wait=false"]);
		const result = await evicting.finished;
		expect(result.code, evicting.output()).toBe(0);
		const violations = await database.violations(1);
		expect(violations.filter(({ change }) => change === "evicted")).toEqual([]);
	});

	test.concurrent("a pod is recreated under the same name: the new one is left alone", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const [pod] = await database.pods();
		const name = ["pod", pod?.name ?? "", "-n", database.namespace];
		const args = evictArgs(database, pod);
		using asleep = startPlugin([...args, "--timeout", "4m"], { XPDB_PAUSE_POINT: "before-evict" });
		await asleep.asleep();
		await kubectl(pod?.context ?? "", ["delete", ...name]);
		await database.ready();
		asleep.child.kill("SIGCONT");
		const result = await asleep.finished;
		expect(result.code, asleep.output()).toBe(0);
		const { metadata } = await getJson<{ metadata: { uid: string; deletionTimestamp?: string } }>(
			pod?.context ?? "",
			`/api/v1/namespaces/${database.namespace}/pods/${pod?.name}`,
		);
		expect(metadata.uid).not.toBe(pod?.uid);
		expect(metadata.deletionTimestamp).toBeUndefined();
		expect((await database.samples()).filter(({ change }) => change === "evicted")).toEqual([]);
	});

	test.concurrent("its budget becomes strict: it waits, and goes on when it is as before", async () => {
		await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 }, ...slow });
		using evicting = startEvicting(database);
		await evicting.printed(/pod\/\S+ evicted/);
		await applyBudget(sharedFleet().contexts, database.namespace, { minAvailable: 6 });
		await evicting.printed(/ healthy, 6 required/);
		await database.ready();
		const before = (await database.pods()).map(({ uid }) => uid);
		const args = evictArgs(database, { name: "db-0", context: "c1" }, "--timeout", "3s");
		expect((await startPlugin(args).finished).code).not.toBe(0);
		expect((await database.pods()).map(({ uid }) => uid)).toEqual(before);
		await applyBudget(sharedFleet().contexts, database.namespace, { maxUnavailable: 1 });
		const result = await evicting.finished;
		expect(result.code, evicting.output()).toBe(0);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});

	test.concurrent("its budget is deleted and made again while a round holds its Leases", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 }, ...slow });
		using evicting = startEvicting(database, { XPDB_PAUSE_POINT: "after-acquire" });
		await evicting.asleep();
		await inAll(["delete", "xpdb", "db", "-n", database.namespace]);
		await applyBudget(sharedFleet().contexts, database.namespace, { maxUnavailable: 1 });
		evicting.child.kill("SIGCONT");
		const startedAt = performance.now();
		await evicting.printed(/pod\/\S+ evicted/);
		expect(performance.now() - startedAt).toBeLessThan(leaseLimitMs());
		const result = await evicting.finished;
		expect(result.code, evicting.output()).toBe(0);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});

	test.concurrent("its database is scaled down to its budget and up again", async () => {
		await using database = await createDatabase({ replicas: 3, budget: { minAvailable: 5 } });
		await letNewPodsBeReady(database, false);
		using evicting = startEvicting(database);
		// Four of nine pods may go. Without ready replacements, nothing more is granted.
		// So no eviction is under way when the plugin stops: scaling down ignores budgets and could coincide with one.
		await evicting.printed(/(pod\/\S+ evicted[^]*){4}/);
		evicting.child.kill("SIGSTOP");
		const scale = async (context: string, replicas: number) =>
			await kubectl(context, ["scale", "statefulset", "db", "-n", database.namespace, `--replicas=${replicas}`]);
		await letNewPodsBeReady(database, true);
		await Promise.all([scale("c1", 1), scale("c2", 1)]);
		await eventually("5 healthy pods, one of them in each of c1 and c2", async () => {
			if (!(await letPodsBeReady(database))) return false;
			const pods = await database.pods();
			return pods.length === 5 && pods.every(({ context, name }) => context === "c3" || name === "db-0");
		});
		evicting.child.kill("SIGCONT");
		await evicting.printed(/ healthy, 5 required/);
		await Promise.all([scale("c1", 3), scale("c2", 3)]);
		const result = await evicting.finished;
		expect(result.code, evicting.output()).toBe(0);
		await database.ready();
		const evictions = (await database.samples()).filter(({ change }) => change === "evicted");
		expect(evictions.length).toBeGreaterThan(4);
		expect(evictions.filter(({ healthy }) => healthy < 5)).toEqual([]);
	});

	test("nothing is left behind", async () => {
		expect(await findLeftBehind()).toEqual([]);
	});
});
