// Tests undo and resume on real clusters, as the operator. Only the nodes record what a drain did.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { createValidator, strictSchema } from "../support/json-schema.ts";
import { applyBudget, createDatabase, type Database } from "./database.ts";
import { kubectl } from "./kubectl.ts";
import { isCordoned, markOf, uncordonAll } from "./nodes.ts";
import { plugin, startPlugin } from "./plugin-process.ts";

const contexts = ["--contexts", "c1-operator,c2-operator"];

/** Returns the nodes of the first pods in c1 and c2, as CONTEXT/NODE. */
async function nodesOf(database: Database): Promise<readonly [string, string]> {
	const pods = await database.pods();
	const [first, second] = ["c1", "c2"].map((cluster) => pods.find(({ context }) => context === cluster));
	return [`c1-operator/${first?.node}`, `c2-operator/${second?.node}`];
}

/** Starts a drain, interrupts it while it waits for a budget, and returns the drain's ID. */
async function interrupted(nodes: readonly string[], flags: readonly string[] = []): Promise<string> {
	using run = startPlugin(["drain", ...nodes, ...contexts, "-y", "--ignore-daemonsets", ...flags]);
	await run.printed(/pod \S+ waits: .*\n/);
	run.child.kill("SIGINT");
	const { code, stderr } = await run.finished;
	expect(code, stderr).toBe(130);
	const [, id = ""] = /^Continue: +kubectl xpdb drain --resume (\w+)/m.exec(stderr) ?? [];
	expect(stderr).toContain(`Undo cordons: kubectl xpdb uncordon --op ${id} --contexts=c1-operator,c2-operator\n`);
	return id;
}

/** Starts a drain and kills it before it prints its ID. Returns the ID that the nodes record. */
async function killed(nodes: readonly string[]): Promise<string> {
	using run = startPlugin(["drain", ...nodes, ...contexts, "-y", "--ignore-daemonsets"]);
	await run.printed(/pod \S+ waits: .*\n/);
	run.child.kill("SIGKILL");
	await run.finished;
	const { stdout } = await plugin(["ops", ...contexts, "-o", "name"]);
	expect(stdout).toMatch(/^[0-9a-f]{6}\n$/);
	return stdout.trim();
}

const loosen = (database: Database) => applyBudget(sharedFleet().contexts, database.namespace, { maxUnavailable: 1 });

describeOnFleet("drain --resume", () => {
	afterEach(uncordonAll);

	test("goes on with an interrupted drain by its id, from an empty home", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const nodes = await nodesOf(database);
		const id = await interrupted(nodes, ["--grace-period=0"]);
		const home = await mkdtemp(join(tmpdir(), "xpdb-home-"));
		try {
			const ops = await plugin(["ops", ...contexts, "-o", "json"], { HOME: home });
			const list = JSON.parse(ops.stdout) as { readonly items: readonly { readonly id: string }[] };
			expect(createValidator(strictSchema("operations-v1"))(list)).toEqual([]);
			const left = nodes.map((node) => ({ context: node.split("/")[0], drained: [], left: [node.split("/")[1]] }));
			expect(list.items).toMatchObject([{ id, contexts: left, typedAgain: ["grace-period"] }]);
			await loosen(database);
			const resumed = await plugin(["drain", "--resume", id, ...contexts, "-y", "--grace-period=0"], { HOME: home });
			expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
			for (const node of nodes) expect(resumed.stdout).toContain(`node/${node.split("/")[1]} drained`);
			expect((await plugin(["ops", ...contexts], { HOME: home })).stderr).toBe("No unfinished operations found\n");
		} finally {
			await rm(home, { recursive: true });
		}
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
		// A drained node stays cordoned, as with kubectl.
		const undone = await plugin(["uncordon", "--op", id, ...contexts, "-y"]);
		expect(undone.code, undone.stderr).toBe(0);
		for (const node of nodes) {
			expect(await isCordoned(node)).toBe(false);
			expect(await markOf(node)).toBeUndefined();
		}
	});

	test("an id that is unknown, of other clusters or none at all: clear words, nothing touched", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const [node] = await nodesOf(database);
		const id = await interrupted([node], ["--force", "--delete-emptydir-data"]);
		await loosen(database);
		const rows = [
			{
				args: ["drain", "--resume", "abcdef", ...contexts],
				text: 'belongs to operation "abcdef", nothing was touched',
			},
			{ args: ["drain", "--resume", id, "--context", "c3-operator"], text: `no node in context c3-operator belongs` },
			{ args: ["drain", "--resume", "latest", ...contexts], text: '"latest" is not the ID of an operation' },
			{ args: ["drain", "--resume", id, node, ...contexts], text: "cannot specify both nodes and --resume" },
			{ args: ["uncordon", "--op", "abcdef", ...contexts, "-y"], text: 'belongs to operation "abcdef"' },
			// Every dangerous flag must be given again.
			{ args: ["drain", "--resume", id, ...contexts, "--force"], text: "was begun with --delete-emptydir-data" },
			{
				args: ["drain", "--resume", id, ...contexts],
				text: `drain --resume ${id} --force --delete-emptydir-data --contexts`,
			},
		];
		const results = await Promise.all(rows.map(({ args }) => plugin(args)));
		for (const [index, { code, stdout, stderr }] of results.entries()) {
			expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
			expect(stderr).toContain(rows[index]?.text);
		}
		// Makes the node record the same ID for another fleet.
		const mark = await markOf(node);
		const [context = "", name = ""] = node.replace("-operator", "").split("/");
		const other = mark?.replace(/"fleet":"\w+"/, '"fleet":"0123456789abcdef"');
		await kubectl(context, ["annotate", "node", name, "--overwrite", `xpdb.form3.tech/operation=${other}`]);
		const typed = ["--force", "--delete-emptydir-data", "-y"];
		const { code, stderr } = await plugin(["drain", "--resume", id, ...contexts, ...typed]);
		expect(code).toBe(1);
		expect(stderr).toContain("under the budgets of another fleet, nothing was touched");
		expect(await database.pods()).toHaveLength(3);
		expect(await isCordoned(node)).toBe(true);
		await kubectl(context, ["annotate", "node", name, "--overwrite", `xpdb.form3.tech/operation=${mark}`]);
		const resumed = await plugin(["drain", "--resume", id, ...contexts, ...typed]);
		expect(resumed.code, resumed.stderr).toBe(0);
	});
});

describeOnFleet("a drain whose node is taken over", () => {
	afterEach(uncordonAll);

	async function waiting(args: readonly string[]) {
		const run = startPlugin(["drain", ...args, ...contexts, "-y"]);
		await run.printed(/pod \S+ waits: .*\n/);
		return run;
	}

	test("by a resume of its own operation leaves it alone, and both say so", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const [node] = await nodesOf(database);
		using first = await waiting([node, "--ignore-daemonsets"]);
		const { id } = JSON.parse((await markOf(node)) ?? "{}") as { readonly id: string };
		using second = await waiting(["--resume", id]);
		const { code, stderr } = await first.finished;
		expect(code, stderr).toBe(1);
		const name = node.split("/")[1];
		expect(stderr).toContain(`node "${name}" was taken over by `);
		expect(stderr).toMatch(new RegExp(`^Not drained: ${node}: .*this run leaves it alone$`, "m"));
		expect(stderr).toContain(`Continue:     kubectl xpdb drain --resume ${id} --contexts=`);
		await loosen(database);
		const ended = await second.finished;
		expect(ended.code, ended.stderr).toBe(0);
		expect(ended.stderr).toContain(`operation ${id} is taken over from the run of `);
		expect(await markOf(node)).toContain(`"state":"drained"`);
	});

	test("by another drain prints commands of that one", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const [node] = await nodesOf(database);
		using first = await waiting([node, "--ignore-daemonsets"]);
		using second = await waiting([node, "--ignore-daemonsets"]);
		const { id } = JSON.parse((await markOf(node)) ?? "{}") as { readonly id: string };
		const { code, stderr } = await first.finished;
		expect(code, stderr).toBe(1);
		expect(stderr).toContain(`Continue:     kubectl xpdb drain --resume ${id} --contexts=`);
		expect(stderr).toContain(`Undo cordons: kubectl xpdb uncordon --op ${id} --contexts=`);
		second.child.kill("SIGINT");
		const ended = await second.finished;
		expect(ended.stderr).toContain(`kubectl xpdb drain --resume ${id} --contexts=`);
		expect((await plugin(["uncordon", "--op", id, ...contexts, "-y"])).code).toBe(0);
		expect(await isCordoned(node)).toBe(false);
	});
});

describeOnFleet("uncordon --op", () => {
	afterEach(uncordonAll);

	test("takes back what the run cordoned; a node cordoned before stays cordoned", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const [first, second] = await nodesOf(database);
		const third = `c1-operator/${["c1-n0", "c1-n1"].find((other) => !first.endsWith(other))}`;
		const [context = "", name = ""] = second.replace("-operator", "").split("/");
		await kubectl(context, ["cordon", name]);
		const id = await interrupted([first, second, third]);
		expect(await markOf(second)).toContain(`"cordonedBefore":true`);
		// After this, the cordon is the user's and no longer the run's.
		const [context3 = "", name3 = ""] = third.replace("-operator", "").split("/");
		for (const verb of ["uncordon", "cordon"]) await kubectl(context3, [verb, name3]);
		const part = await plugin(["uncordon", "--op", id, "--context=c1-operator", "--dry-run=client"]);
		expect(part.stderr).toContain(
			`Warning: operation ${id}: left as they are: 1 of its 3 nodes (deleted, uncordoned, taken over by another operation, or in contexts that were not named)\n`,
		);
		const undone = await plugin(["uncordon", "--op", id, ...contexts, "-y"]);
		expect(undone.code, undone.stderr).toBe(0);
		expect(undone.stderr).not.toContain("left as they are");
		expect(undone.stderr).toContain(`node "${name}" was cordoned before operation ${id} and stays so`);
		expect(undone.stderr).toContain(`node "${name3}" was cordoned by others since operation ${id} and stays so`);
		expect([await isCordoned(first), await isCordoned(second), await isCordoned(third)]).toEqual([false, true, true]);
		expect([await markOf(first), await markOf(second), await markOf(third)]).toEqual(Array(3).fill(undefined));
	});

	test("a second run takes over, and uncordoning by hand ends what is remembered", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const [node] = await nodesOf(database);
		const first = await killed([node]);
		const second = await interrupted([node]);
		expect(await markOf(node)).toContain(`"id":"${second}"`);
		expect((await plugin(["uncordon", "--op", first, ...contexts, "-y"])).code).toBe(1);
		expect(await isCordoned(node)).toBe(true);
		const { code, stdout } = await plugin(["uncordon", node, ...contexts]);
		expect({ code, stdout }).toEqual({ code: 0, stdout: `c1-operator  node/${node.split("/")[1]} uncordoned\n` });
		expect(await markOf(node)).toBeUndefined();
		expect((await plugin(["drain", "--resume", second, ...contexts])).code).toBe(1);
	});
});
