// Tests commands over several clusters while one API server accepts connections and never answers: their effect in the other clusters,
// their messages and their duration.
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { freezeComponent } from "../../controlplane/faults.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl, recoverAgents } from "../agents.ts";
import { everywhere } from "../check/run-check.ts";
import { createDatabase, type Database } from "../database.ts";
import { isCordoned, uncordonAll } from "../nodes.ts";
import { plugin } from "../plugin-process.ts";

const announced = /^c3-operator(: | {2})waiting for the API server: no answer for 3s$/m;
const unanswered = 'Unable to connect to the server of context "c3-operator": no connection within 10s';
/** Two connection timeouts of 10 s, for the names and for the fleet, and 25 s more for a busy machine. */
const withinMs = 45_000;

async function timed(args: readonly string[], environment?: Readonly<Record<string, string>>) {
	const begunAt = performance.now();
	const result = await plugin([...args, ...everywhere], environment);
	expect(performance.now() - begunAt, result.stderr).toBeLessThan(withinMs);
	expect(result.code, result.stderr).toBe(4);
	return result;
}

async function nodeOf(database: Database, cluster: string): Promise<string> {
	const pod = (await database.pods()).find(({ context }) => context === cluster);
	if (!pod) throw new Error(`no pod in ${cluster}`);
	return `${cluster}-operator/${pod.node}`;
}

describeOnFleet("a hung API server", () => {
	let database: Database;
	let taken: string;
	let silent: string;
	beforeAll(async () => {
		database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		[taken, silent] = [await nodeOf(database, "c1"), await nodeOf(database, "c3")];
	});
	afterEach(uncordonAll);
	afterAll(async () => {
		await database?.[Symbol.asyncDispose]();
		await recoverAgents();
	});

	test("that hangs for everyone holds up no cordon elsewhere, and no table", async () => {
		const thaw = await freezeComponent(fleetControl(), { cluster: "c3", component: "apiserver" });
		try {
			const cordoned = await timed(["cordon", taken, silent, "-y"]);
			expect(cordoned.stdout).toMatch(/^c1-operator +node\/\S+ cordoned$/m);
			expect(cordoned.stderr).toMatch(announced);
			expect(cordoned.stderr).toContain(unanswered);
			expect(await isCordoned(taken)).toBe(true);

			const budgets = await timed(["budgets", "-n", database.namespace]);
			expect(budgets.stdout).toMatch(/^\S+ +db /m);
			expect(budgets.stderr).toMatch(announced);
			expect(budgets.stderr).toContain("c3-operator: ");

			const { stdout } = await timed(["check", "-n", database.namespace]);
			expect(
				stdout
					.match(/^access .*$/m)?.[0]
					.trim()
					.split(/ +/),
			).toEqual(["access", ...everywhere.join().split(",").slice(1)]);
			expect(stdout).not.toMatch(/no context leads|in c3\b|^ +c3: /m);

			// An eviction needs the count of every member. The output names the missing one.
			const drained = await timed(["drain", taken, silent, "-y", "--ignore-daemonsets", "--timeout=20s"]);
			expect(drained.stderr).toContain("c3");
			expect(drained.stdout).not.toContain("evicted");
		} finally {
			await thaw();
		}
	});

	test("that hangs for this machine alone: the other clusters are drained, through the agents of the others", async () => {
		const sockets: Socket[] = [];
		const server = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		try {
			const address = server.address();
			if (typeof address !== "object" || !address) throw new Error("no address");
			const path = join(mkdtempSync(join(tmpdir(), "hung-")), "config");
			const cluster = { server: `https://127.0.0.1:${address.port}`, "insecure-skip-tls-verify": true };
			const names = ["c3", "c3-linked"];
			writeFileSync(
				path,
				JSON.stringify({ apiVersion: "v1", kind: "Config", clusters: names.map((name) => ({ name, cluster })) }),
			);
			const environment = { KUBECONFIG: `${path}:${sharedFleet().kubeconfigPath}` };
			const drained = await timed(
				["drain", taken, silent, "-y", "--ignore-daemonsets", "--pod-selector", `database=${database.namespace}`],
				environment,
			);
			expect(drained.stdout).toMatch(/^c1-operator +node\/\S+ drained$/m);
			expect(drained.stdout).toContain("pod/db-0 evicted");
			expect(drained.stderr).toMatch(announced);
			const [, node = ""] = silent.split("/");
			expect(drained.stderr).toContain(
				`c3-operator  Warning: no answer from the API server, nothing is done in this context (${node})`,
			);
			expect(drained.stderr).toContain(
				`Not drained: ${silent}: no answer from the API server: no connection within 10s`,
			);
			expect(await isCordoned(silent)).toBe(false);

			// Without work in this cluster, the command succeeds.
			await uncordonAll();
			await database.ready();
			const elsewhere = await nodeOf(database, "c2");
			const nodes = [elsewhere, ...everywhere, "--ignore-daemonsets", `--pod-selector=database=${database.namespace}`];
			const planned = await plugin(["plan", ...nodes], environment);
			expect(planned.code, planned.stderr).toBe(0);
			expect(planned.stderr).toContain("c3-operator: its cluster is asked through the agents of the others: ");
			expect(planned.stdout).toContain("1 pod, 1 wave");
			const others = await plugin(["drain", ...nodes, "-y"], environment);
			expect(others.code, others.stderr).toBe(0);
			expect(others.stderr).toMatch(/^c3-operator +Warning: its cluster is asked through the agents of the others: /m);
			expect(others.stdout).toContain("pod/db-0 evicted");

			const alone = ["cordon", node, "--context", "c3-operator", "-o", "json"];
			const { code, stdout, stderr } = await plugin(alone, environment);
			expect(code, stderr).toBe(4);
			expect(stderr).toMatch(/^waiting for the API server: no answer for 3s$/m);
			expect(stderr).toMatch(/^Unable to connect to the server: no connection within 10s$/m);
			const told = expect.objectContaining({ type: "diagnostic", reason: "ServerUnreachable", context: "c3-operator" });
			expect(
				stdout
					.trim()
					.split("\n")
					.map((line): unknown => JSON.parse(line)),
			).toContainEqual(told);
		} finally {
			for (const socket of sockets) socket.destroy();
			server.close();
		}
	});
});
