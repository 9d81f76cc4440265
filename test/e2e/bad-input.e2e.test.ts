// Tests wrong arguments, failing logins, invalid budgets, changed Leases and missing rights. The plugin names the problem without a stack
// trace, and evicts nothing.
import { expect, test } from "vitest";
import { inTheAgentsName as agentsName, createAdminClient } from "../controlplane/admin-client.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { applyBudget, createDatabase, type Database } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { kubeconfigWithExpiredToken } from "./expired-token.ts";
import { getJson, leasesPath } from "./get-json.ts";
import { apply, inTheAgentsName, kubectl } from "./kubectl.ts";
import { kubeconfigWithLogin } from "./login-program.ts";
import { isCordoned } from "./nodes.ts";
import { type PluginResult, plugin, startPlugin } from "./plugin-process.ts";
import { storeBudgetIn } from "./store-budget.ts";

function expectError(result: PluginResult, code: number, ...texts: readonly (string | RegExp)[]): void {
	expect(result.code, result.stdout + result.stderr).toBe(code);
	for (const text of texts) expect(result.stderr).toMatch(text);
	expect(result.stderr).not.toMatch(/\n\s+at .*:\d+/);
	expect(result.stdout).not.toContain("evicted");
}

async function evictFirst(database: Database): Promise<PluginResult> {
	const [pod] = await database.pods();
	return plugin(evictArgs(database, pod));
}

/** Runs the plugin until it has printed each reason, interrupts it because it may keep waiting, and checks that it evicted nothing. */
async function expectRefused(database: Database, ...texts: readonly (string | RegExp)[]): Promise<void> {
	const [pod] = await database.pods();
	using run = startPlugin(evictArgs(database, pod));
	for (const text of texts) await run.printed(text);
	run.child.kill("SIGINT");
	const { code, stdout } = await run.finished;
	expect(code, run.output()).not.toBe(0);
	expect(stdout).not.toContain("evicted");
	expect(await database.pods()).toHaveLength(3);
}

describeOnFleet("contexts", () => {
	const rows = [
		{ name: "unknown", args: ["--contexts", "c1-operator,nowhere"], code: 1, text: /nowhere/ },
		{ name: "twice the same", args: ["--contexts", "c1-operator,c1-operator"], code: 1, text: /c1-operator/ },
		{ name: "two of one cluster", args: ["--contexts", "c1,c1-operator"], code: 1, text: /same cluster/ },
		{ name: "both flags", args: ["--contexts", "c1,c2", "--context", "c1"], code: 1, text: /--contexts?/ },
		{ name: "empty", args: ["--contexts", ""], code: 1, text: /--contexts/ },
	];
	for (const { name, args, code, text } of rows) {
		test(`${name}: refused by name`, async () => {
			expectError(await plugin(["drain", "c1-n0", "--ignore-daemonsets", "-y", ...args]), code, text);
		});
	}
});

describeOnFleet("targets", () => {
	test("a node that no context has", async () => {
		const result = await plugin(["drain", "no-such-node", "--context", "c1-operator"]);
		expectError(result, 1, /nodes "no-such-node" not found/);
	});

	test("a pod that two contexts have must be written as context/NAME", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const args = ["-n", database.namespace, "--contexts", "c1-operator,c2-operator", "-y"];
		expectError(await plugin(["evict", "db-0", ...args]), 1, /c1-operator/, /c2-operator/);
		const exact = await plugin(["evict", "c2-operator/db-0", ...args]);
		expect(exact.code, exact.stderr).toBe(0);
	});

	test("a node that two contexts have must be written as context/NAME", async () => {
		const twin = { apiVersion: "v1", kind: "Node", metadata: { name: "twin" } };
		await apply(["c1", "c2"], [twin]);
		try {
			const args = ["--contexts", "c1-operator,c2-operator", "-y"];
			expectError(await plugin(["drain", "twin", ...args]), 1, /c1-operator\/twin/, /c2-operator\/twin/);
			const exact = await plugin(["drain", "c2-operator/twin", ...args, "--ignore-daemonsets"]);
			expect(exact.code, exact.stderr).toBe(0);
			expect(await isCordoned("c2/twin")).toBe(true);
			expect(await isCordoned("c1/twin")).toBe(false);
		} finally {
			await Promise.all(["c1", "c2"].map((context) => kubectl(context, ["delete", "node", "twin"])));
		}
	});

	test("flags that do not exist, or do not fit", async () => {
		expectError(await plugin(["drain", "c1-n0", "--ignore-daemonset"]), 1, /ignore-daemonset/);
		expectError(await plugin(["drain", "c1-n0", "--context", "c1-operator", "--timeout", "soon"]), 1, /timeout/);
		expectError(await plugin(["drain", "--context", "c1-operator"]), 1, /drain/);
		expectError(await plugin(["evict", "db-0", "-l", "app=db", "--context", "c1-operator"]), 1, /selector|-l/);
	});
});

describeOnFleet("a token that has expired", () => {
	for (const contexts of [["c1"], ["c1", "c2"]]) {
		test.concurrent(`of ${contexts.join(" and ")}: says that the login is no good, and nothing is evicted`, async () => {
			await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
			await using kubeconfig = await kubeconfigWithExpiredToken("c1");
			const args = ["evict", "c1-expired/db-0", "-n", database.namespace, "--contexts", "c1-expired,c2-operator", "-y"];
			const alone = ["evict", "db-0", "-n", database.namespace, "--context", "c1-expired"];
			const result = await plugin(contexts.length === 1 ? alone : args, { KUBECONFIG: kubeconfig.path });
			expectError(result, 1, /You must be logged in to the server/, contexts.length === 1 ? /logged in/ : /c1-expired/);
			expect(await database.pods()).toHaveLength(3);
		});
	}
});

describeOnFleet("a login by a program", () => {
	test.concurrent("evicts with the certificate that it gives", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		using kubeconfig = kubeconfigWithLogin("c1-operator", 'cat "$1"');
		const args = evictArgs(database, { name: "db-0", context: "c1" });
		const result = await plugin(args, { KUBECONFIG: kubeconfig.path });
		expect(result.code, result.stderr).toBe(0);
		expect(result.stdout).toContain("pod/db-0 evicted");
	});

	test.concurrent("that fails: what it said, its name, and nothing is evicted", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		using kubeconfig = kubeconfigWithLogin("c1-operator", "echo 'your session is over: run cloud login' >&2; exit 255");
		const args = evictArgs(database, { name: "db-0", context: "c1" });
		const result = await plugin(args, { KUBECONFIG: kubeconfig.path });
		expectError(
			result,
			1,
			/^your session is over/,
			/getting credentials: exec: executable sh failed with exit code 255/,
		);
		expect(await database.pods()).toHaveLength(3);
	});
});

describeOnFleet("budgets that cannot be enforced", () => {
	const store = ({ namespace }: Database, spec: object): Promise<void> =>
		storeBudgetIn(sharedFleet().contexts, {
			namespace,
			name: "db",
			spec: { selector: { matchLabels: { app: "db" } }, ...spec },
		});
	const specs = [
		{ name: "neither bound", spec: {}, text: /neither spec\.minAvailable nor spec\.maxUnavailable/ },
		{ name: "both bounds", spec: { minAvailable: 1, maxUnavailable: 1 }, text: /both set/ },
		{ name: "a negative bound", spec: { maxUnavailable: -1 }, text: /spec\.maxUnavailable/ },
		{ name: "more than 100 %", spec: { minAvailable: "101%" }, text: /spec\.minAvailable/ },
		{ name: "a probe", spec: { maxUnavailable: 1, probe: { endpoint: "probe:1", enabled: true } }, text: /probe/ },
	];
	for (const { name, spec, text } of specs) {
		test.concurrent(`${name}: named, and nothing is evicted`, async () => {
			await using database = await createDatabase({ replicas: 1 });
			await store(database, spec);
			await expectRefused(database, text, `${database.namespace}/db`);
		});
	}

	test.concurrent("an invalid operator in the selector is named", async () => {
		await using database = await createDatabase({ replicas: 1 });
		const selector = { matchExpressions: [{ key: "app", operator: "Like", values: ["db"] }] };
		await store(database, { maxUnavailable: 1, selector });
		await expectRefused(database, /operator/);
	});

	test.concurrent("selectors that differ between members are named", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await applyBudget(["c2"], database.namespace, { maxUnavailable: 1, selector: { matchLabels: {} } });
		await expectRefused(database, /c2/, /select/);
	});
});

describeOnFleet("Leases that somebody changed by hand", () => {
	const selectorOf = (database: Database) => `xpdb.form3.tech/budget-namespace=${database.namespace}`;

	test.concurrent("a garbled state refuses and says so, and nothing of it is lost", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		expect((await evictFirst(database)).code).toBe(0);
		await database.ready();
		const state = "xpdb.form3.tech/state=not-json";
		const selected = ["leases", "-n", "xpdb-system", "-l", selectorOf(database)];
		await kubectl("c2", ["annotate", ...selected, "--overwrite", state, ...inTheAgentsName]);
		await expectRefused(database, /Lease/, /c2/);
		expect(await kubectl("c2", ["get", ...selected, "-o", "yaml"])).toContain("not-json");
		await kubectl("c2", ["delete", ...selected, ...inTheAgentsName]);
		expect((await evictFirst(database)).code).toBe(0);
	});

	test.concurrent("a state that a newer agent wrote refuses and says so", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		expect((await evictFirst(database)).code).toBe(0);
		await database.ready();
		const selected = ["leases", "-n", "xpdb-system", "-l", selectorOf(database)];
		await kubectl("c3", [
			"annotate",
			...selected,
			"--overwrite",
			'xpdb.form3.tech/state={"schema":2}',
			...inTheAgentsName,
		]);
		// If this Lease stayed, later tests would fail.
		try {
			await expectRefused(database, /c3/, /schema 2, this version knows 1/);
		} finally {
			await kubectl("c3", ["delete", ...selected, ...inTheAgentsName]);
		}
	});

	test.concurrent("annotations at their limit: the Lease is full, which waits, and the pod stays", async () => {
		// The refused eviction creates a Lease without reservations.
		await using database = await createDatabase({ replicas: 1, budget: { minAvailable: 3 } });
		await expectRefused(database, / healthy, 3 required/);
		const { items } = await getJson<{ items: { metadata: { name: string; annotations: Record<string, string> } }[] }>(
			"c1",
			leasesPath(selectorOf(database)),
		);
		const key = "example.com/large";
		const [cluster] = sharedFleet().clusters;
		if (!cluster) throw new Error("There is no cluster");
		const agent = createAdminClient(cluster, agentsName);
		for (const { metadata } of items) {
			const { annotations, name } = metadata;
			const used = Object.entries(annotations).reduce(
				(sum, [name, value]) => sum + name.length + value.length,
				key.length,
			);
			// Leaves room for another nonce, but not for a reservation.
			const patch = { metadata: { annotations: { [key]: "x".repeat(262_144 - used - 60) } } };
			const path = `/apis/coordination.k8s.io/v1/namespaces/xpdb-system/leases/${name}`;
			await agent.send("PATCH", path, patch, "application/merge-patch+json");
		}
		agent.close();
		await applyBudget(sharedFleet().contexts, database.namespace, { minAvailable: 2 });
		await expectRefused(database, /has no room/);
	});
});

describeOnFleet("rights that are missing", () => {
	const rows = [
		{ name: "the token", role: ["role", "xpdb-operators"], index: /serviceaccounts/, text: /token/ },
		{ name: "port-forward", role: ["role", "xpdb-operators"], index: /portforward/, text: /port-?forward|portforward/ },
		{ name: "evictions", role: ["clusterrole", "xpdb-operators"], index: /eviction/, text: /eviction/ },
	];
	for (const { name, role, index, text } of rows) {
		test(`${name}: what is missing, where, and nothing is evicted`, async () => {
			await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
			const scope = role[0] === "role" ? ["-n", "xpdb-system"] : [];
			const before = await kubectl("c1", ["get", ...role, ...scope, "-o", "json"]);
			const object = JSON.parse(before) as { rules: { resources: string[] }[]; metadata: { resourceVersion?: string } };
			const rules = object.rules.filter(({ resources }) => !resources.some((resource) => index.test(resource)));
			expect(rules.length).toBeLessThan(object.rules.length);
			try {
				await kubectl("c1", ["patch", ...role, ...scope, "--type=merge", "-p", JSON.stringify({ rules })]);
				await expectRefused(database, text, /c1|alice/);
			} finally {
				await kubectl("c1", [
					"patch",
					...role,
					...scope,
					"--type=merge",
					"-p",
					JSON.stringify({ rules: object.rules }),
				]);
			}
		});
	}
});
