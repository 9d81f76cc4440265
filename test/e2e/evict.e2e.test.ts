import { expect, test } from "vitest";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { createDatabase } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { getJson, leasesPath } from "./get-json.ts";
import { eventually, kubectl } from "./kubectl.ts";
import { plugin, startPlugin } from "./plugin-process.ts";
import { withoutSlowLines } from "./slow-lines.ts";

// Concurrent, because the tests mostly wait. Each has its own namespace.
describeOnFleet("kubectl xpdb evict", () => {
	test.concurrent("evicts one pod under a budget over three clusters, in one context", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const [pod] = await database.pods();
		const result = await plugin(evictArgs(database, pod));
		// The replacement may not be ready yet.
		expect(withoutSlowLines(result.stderr)).toMatch(/^(?:not recovered: .*\n)?$/);
		expect(result.stdout).toContain(`pod/${pod?.name} evicted`);
		expect(result.code).toBe(0);
		expect((await database.pods()).map(({ uid }) => uid)).not.toContain(pod?.uid);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});

	test.concurrent("evicts the pods of a selector in three contexts, one after the other", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const before = (await database.pods()).map(({ uid }) => uid);
		const contexts = sharedFleet()
			.contexts.map((context) => `${context}-operator`)
			.join(",");
		const result = await plugin(["evict", "-l", "app=db", "-n", database.namespace, "--contexts", contexts, "-y"]);
		expect(result.code, result.stderr).toBe(0);
		await database.ready();
		expect((await database.pods()).filter(({ uid }) => before.includes(uid))).toEqual([]);
		const samples = await database.samples();
		expect(samples.filter(({ disruption }) => disruption)).toHaveLength(3);
		expect(await database.violations(1)).toEqual([]);
	});

	test.concurrent("--for=replaced returns when the budget has recovered", async () => {
		await using database = await createDatabase({
			replicas: 1,
			budget: { maxUnavailable: 1 },
			annotations: { "bench/ready-after": "3s" },
		});
		const [pod] = await database.pods();
		const context = `${pod?.context}-operator`;
		// The run waits for as many healthy pods as at its start, so agents must first have seen all of them.
		await eventually("the agents to count 3 healthy pods", async () => {
			const { stdout } = await plugin(["budgets", "-n", database.namespace, "--context", context]);
			return /^\S+ +db +1 +3 /m.test(stdout);
		});
		const result = await plugin(evictArgs(database, pod, "--for=replaced"));
		expect(result.code, result.stderr).toBe(0);
		expect(await database.pods()).toHaveLength(3);
	});

	test.concurrent("says for what it waits where the budget is used up, and goes on when it is not", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { namespace } = database;
		await kubectl("c1", ["annotate", "pod", "db-0", "-n", namespace, "bench/ready=false"]);
		await kubectl("c1", ["wait", "pod/db-0", "-n", namespace, "--for=condition=Ready=false", "--timeout=60s"]);
		using run = startPlugin(evictArgs(database, { name: "db-0", context: "c2" }));
		await run.printed(/budget \S+\/db has no disruption left: 2 of 3 healthy, 2 required/);
		await kubectl("c1", ["annotate", "pod", "db-0", "-n", namespace, "bench/ready-"]);
		const result = await run.finished;
		expect(result.code, result.stderr).toBe(0);
		expect(result.stdout).toContain("pod/db-0 evicted");
		expect(await database.violations(1)).toEqual([]);
	});

	test.concurrent("evicts a pod that no budget covers as kubectl would", async () => {
		await using database = await createDatabase({ replicas: 1 });
		const [pod] = await database.pods();
		const result = await plugin(evictArgs(database, pod));
		expect(result.code, result.stderr).toBe(0);
		expect(result.stdout).toContain(`pod/${pod?.name} evicted`);
	});

	test.concurrent("grants a pod under two budgets by both or not at all", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { contexts } = sharedFleet();
		const strict = {
			apiVersion: "x-pdb.form3.tech/v1alpha1",
			kind: "XPodDisruptionBudget",
			metadata: { name: "strict", namespace: database.namespace },
			spec: { selector: { matchLabels: { app: "db" } }, minAvailable: 3 },
		};
		await kubectl(contexts[0] ?? "", ["apply", "-f", "-"], JSON.stringify(strict));
		const [pod] = await database.pods();
		const args = evictArgs(database, pod);
		using refused = startPlugin(args);
		await refused.printed(/\/strict has no disruption left: 3( of 3)? healthy, 3 required/);
		refused.child.kill("SIGINT");
		expect((await refused.finished).code).toBe(130);
		expect((await database.pods()).map(({ uid }) => uid)).toContain(pod?.uid);
		await kubectl(contexts[0] ?? "", ["delete", "xpdb", "strict", "-n", database.namespace]);
		const granted = await plugin(args);
		expect(granted.code, granted.stderr).toBe(0);
	});

	test.concurrent("leaves no reservation and no held Lease behind", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const [pod] = await database.pods();
		await plugin(evictArgs(database, pod));
		await eventually("a Lease without holder and reservations", async () => {
			const selector = `xpdb.form3.tech/budget-namespace=${database.namespace}`;
			const leases = await getJson<{
				items: { metadata: { annotations: Record<string, string> }; spec: { holderIdentity?: string } }[];
			}>(pod?.context ?? "", leasesPath(selector));
			return (
				leases.items.length === 1 &&
				leases.items.every(({ metadata, spec }) => {
					const state = JSON.parse(metadata.annotations["xpdb.form3.tech/state"] ?? "{}") as {
						reservations: unknown[];
					};
					return spec.holderIdentity === undefined && state.reservations.length === 0;
				})
			);
		});
	});
});
