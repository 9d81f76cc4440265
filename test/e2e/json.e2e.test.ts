// Tests that each line of -o json matches the published schema, on real clusters.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { createValidator, eventProblems, strictSchema } from "../support/json-schema.ts";
import { createDatabase, type Database } from "./database.ts";
import { getJson, podsPath } from "./get-json.ts";
import { eventually } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { plugin, startPlugin } from "./plugin-process.ts";
import { isSlowLine, withoutSlowLines } from "./slow-lines.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };

const operators = () =>
	sharedFleet()
		.contexts.map((context) => `${context}-operator`)
		.join(",");

interface Event {
	readonly type: string;
	readonly [field: string]: unknown;
}

const eventsOf = (output: string): readonly Event[] =>
	output
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line) as Event);

const leasesOf = (events: readonly Event[], type: string): readonly string[] =>
	events
		.filter((event) => event.type === type)
		.map((event) => String(event["cluster"]))
		.toSorted();

/** Waits until the node has no pods of earlier databases, which would appear in the plan. */
async function alone({ namespace }: Database, path: string): Promise<void> {
	const [context = "", node = ""] = path.replace("-operator", "").split("/");
	await eventually(`node ${node} to have no other database's pods`, async () => {
		const { items } = await getJson<{ items: readonly { metadata: { namespace: string } }[] }>(
			context,
			podsPath(undefined, { fieldSelector: `spec.nodeName=${node}` }),
		);
		return items.every(({ metadata }) => [namespace, "xpdb-system"].includes(metadata.namespace));
	});
}

/** Returns the arguments of a drain of the first pod's node. */
async function blockedDrain(database: Database): Promise<{ readonly args: readonly string[]; readonly node: string }> {
	const [pod] = await database.pods();
	const node = `${pod?.context}-operator/${pod?.node}`;
	const args = ["drain", node, "--contexts", operators(), "--ignore-daemonsets", "-y", "-o", "json"];
	return { args, node };
}

describeOnFleet("-o json", () => {
	afterEach(uncordonAll);

	test("a drain and an eviction are told line by line, and end with their summary", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { args, node } = await blockedDrain(database);
		await alone(database, node);
		const drain = await plugin(args);
		expect(drain.code, drain.stdout + drain.stderr).toBe(0);
		expect(eventProblems(drain.stdout)).toEqual([]);
		expect(withoutSlowLines(drain.stderr)).toBe("");
		const events = eventsOf(drain.stdout).filter(
			({ type, message }) => type !== "diagnostic" || !isSlowLine(`Warning: ${String(message)}`),
		);
		expect(events[0]).toMatchObject({ type: "version", command: "drain", agents: { "c1-operator": version } });
		expect(events.at(-1)).toMatchObject({ result: "done", exitCode: 0, drained: [node], notDrained: [] });
		expect(events.filter(({ type }) => type === "pod.evicted").length).toBeGreaterThan(0);
		expect(events.map(({ type }) => type).slice(0, 4)).toEqual(["version", "run.started", "plan", "node.cordoned"]);
		expect(events[2]).toMatchObject({ nodes: 1, impossible: 0 });
		expect(events[2]?.["pods"]).toBeGreaterThan(0);
		expect(leasesOf(events, "lease.acquired")).toEqual(expect.arrayContaining(["c1", "c2", "c3"]));
		expect(leasesOf(events, "lease.released")).toEqual(leasesOf(events, "lease.acquired"));
		await database.ready();

		const evict = ["evict", "-l", "app=db", "-n", database.namespace, "--contexts", operators(), "-y", "-o", "json"];
		const { code, stdout } = await plugin(evict);
		expect(code, stdout).toBe(0);
		expect(eventProblems(stdout)).toEqual([]);
		expect(eventsOf(stdout).at(-1)).toMatchObject({ command: "evict", result: "done", evicted: 3, failed: 0 });
		// The budget allows one disruption at a time, so the other pods waited.
		const waits = eventsOf(stdout).filter(({ type }) => type === "pod.waiting");
		expect(waits.map(({ reason }) => reason)).toContain("BudgetExhausted");
		await database.ready();
		expect(await database.violations(1)).toEqual([]);
	});

	test("SIGTERM: the last line is the summary, with the way on", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const { args, node } = await blockedDrain(database);
		using run = startPlugin(args);
		await run.printed('"pod.waiting"');
		run.child.kill("SIGTERM");
		const { code: left, stdout } = await run.finished;
		expect(left, stdout).toBe(143);
		expect(eventProblems(stdout)).toEqual([]);
		const [{ op } = { op: undefined }] = eventsOf(stdout);
		expect(eventsOf(stdout).at(-1)).toMatchObject({
			result: "interrupted",
			exitCode: 143,
			notDrained: [{ node, reason: "BudgetExhausted" }],
			cordoned: [node],
			resume: `kubectl xpdb drain --resume ${String(op)} --contexts=${operators()}`,
			undo: `kubectl xpdb uncordon --op ${String(op)} --contexts=${operators()}`,
		});
	});

	test("errors end with a summary too, and so do cordon and uncordon", async () => {
		const context = ["--context", "c1-operator", "-o", "json"];
		const missing = await plugin(["drain", "no-such-node", ...context]);
		expect(missing.code).toBe(1);
		expect(eventProblems(missing.stdout)).toEqual([]);
		expect(eventsOf(missing.stdout).map(({ type }) => type)).toEqual(["version", "diagnostic", "summary"]);
		expect(missing.stderr).toContain('nodes "no-such-node" not found');
		const cordon = await plugin(["cordon", "c1-n0", ...context]);
		expect(eventProblems(cordon.stdout)).toEqual([]);
		expect(eventsOf(cordon.stdout).at(-1)).toMatchObject({ command: "cordon", cordoned: ["c1-operator/c1-n0"] });
		const uncordon = await plugin(["uncordon", "c1-n0", ...context]);
		expect(eventProblems(uncordon.stdout)).toEqual([]);
		expect(eventsOf(uncordon.stdout).at(-1)).toMatchObject({ uncordoned: ["c1-operator/c1-n0"], exitCode: 0 });
	});

	test("a reader that leaves after the first line stops the run as a first Ctrl-C does", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const { args } = await blockedDrain(database);
		const { dir, kubeconfigPath } = sharedFleet();
		const pipe = spawn(
			"bash",
			["-c", `"$0" "$@" | head -1; exit "\${PIPESTATUS[0]}"`, join(dir, "bin", "kubectl-xpdb"), ...args],
			{
				env: { ...process.env, KUBECONFIG: kubeconfigPath },
				stdio: ["ignore", "pipe", "inherit"],
			},
		);
		let stdout = "";
		pipe.stdout.setEncoding("utf8").on("data", (text: string) => {
			stdout += text;
		});
		const code = await new Promise((resolve) => pipe.once("close", resolve));
		expect(code).toBe(2);
		expect(eventsOf(stdout).map(({ type }) => type)).toEqual(["version"]);
		expect(await database.pods()).toHaveLength(3);
	});

	test("reads are as published", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const named = ["-n", database.namespace, "--contexts", operators()];
		await eventually("the agents to count 3 healthy pods", async () => {
			const { stdout } = await plugin(["budgets", ...named, "-o", "json"]);
			const document = JSON.parse(stdout) as { readonly items: readonly { readonly healthy: number }[] };
			expect(createValidator(strictSchema("budgets-v1"))(document)).toEqual([]);
			return document.items[0]?.healthy === 3;
		});
		const version = await plugin(["version", "--contexts", operators(), "-o", "json"]);
		expect(createValidator(strictSchema("version-v1"))(JSON.parse(version.stdout))).toEqual([]);
		expect((await plugin(["budgets", ...named, "-o", "name"])).stdout).toBe(
			"xpoddisruptionbudget.x-pdb.form3.tech/db\n",
		);
		expect((await plugin(["budgets", ...named, "-o", "yaml"])).stdout).toMatch(
			/^schema: xpdb\.budgets\/1\.0\nitems:\n/,
		);
	});
});
