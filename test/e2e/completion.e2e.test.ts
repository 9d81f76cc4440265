// Tests shell completion on real clusters. Most tests call complete() in this process, so that the limit of 300 ms does not include the
// start of a program. Others run the built program.
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { delimiter, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { commands } from "../../plugin/command-table.ts";
import { complete } from "../../plugin/commands/complete.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { collectStreams } from "../support/collected-streams.ts";
import { startInTerminal } from "../support/pseudo-terminal.ts";
import { fleetControl } from "./agents.ts";
import { createDatabase } from "./database.ts";
import { eventually, kubectl } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { plugin, startPlugin } from "./plugin-process.ts";

const three = "c1-operator,c2-operator,c3-operator";

/** Returns the values without their descriptions, and the directive. */
async function completed(line: string, kubeconfig = sharedFleet().kubeconfigPath) {
	const streams = collectStreams();
	// Gives back the 50 ms that completion reserves for starting and ending a program. Without a home, nothing is cached.
	await complete(line.split(" "), { streams, env: { KUBECONFIG: kubeconfig } }, { commands, now: () => -50 });
	expect(streams.err()).toBe("");
	const lines = streams.out().trimEnd().split("\n");
	return { values: lines.slice(0, -1).map((each) => each.split("\t")[0] ?? ""), directive: lines.at(-1) };
}

/** Retries, because values that come too late are left out. */
async function comes(line: string, values: readonly string[]): Promise<void> {
	let last: readonly string[] = [];
	try {
		await eventually("what a cluster has", async () => {
			last = (await completed(line)).values;
			return values.every((value) => last.includes(value));
		});
	} catch (error) {
		throw new Error(`${line}: ${JSON.stringify(last)}`, { cause: error });
	}
}

/** An API server that accepts every connection and never answers. */
async function silentServer(folder: string) {
	const sockets = new Set<Socket>();
	const server = createServer((socket) => void sockets.add(socket.on("error", () => undefined)));
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	const path = join(folder, `silent-${port}.json`);
	const config = {
		apiVersion: "v1",
		kind: "Config",
		"current-context": "silent",
		clusters: [{ name: "silent", cluster: { server: `https://127.0.0.1:${port}` } }],
		users: [{ name: "silent", user: { token: "none" } }],
		contexts: [{ name: "silent", context: { cluster: "silent", user: "silent" } }],
	};
	await writeFile(path, JSON.stringify(config));
	return {
		path,
		asked: () => sockets.size,
		async [Symbol.asyncDispose]() {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** Returns the number of processes whose command line contains all of these words. */
function countRunning(...words: readonly string[]): number {
	return readdirSync("/proc").filter((pid) => {
		if (!/^\d+$/.test(pid)) return false;
		try {
			const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
			return words.every((word) => line.includes(word));
		} catch {
			// The process has just ended.
			return false;
		}
	}).length;
}

describeOnFleet("the Tab key", () => {
	afterEach(uncordonAll);

	test("has contexts, nodes, pods and budgets as the clusters have them now", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { namespace } = database;
		expect(await completed("drain --contexts=c1-operator,c2-op")).toEqual({
			values: ["--contexts=c1-operator,c2-operator"],
			directive: ":4",
		});
		const nodes = async (context: string) =>
			(await kubectl(context, ["get", "nodes", "-o", "name"]))
				.trim()
				.split("\n")
				.map((name) => name.slice("node/".length));
		await comes("drain --context c1-operator ", await nodes("c1"));
		const both = [
			...(await nodes("c1")).map((name) => `c1-operator/${name}`),
			...(await nodes("c2")).map((name) => `c2-operator/${name}`),
		];
		await comes("plan --contexts c1-operator,c2-operator ", both);
		await comes(`evict -n ${namespace} --context c1-operator `, ["db-0"]);
		await comes(`explain -n ${namespace} --context c2-operator pod/`, ["pod/db-0"]);
		await comes(`budgets -n ${namespace} --contexts ${three} `, ["db"]);
		await comes(`leases release -n ${namespace} --contexts ${three} `, ["db"]);
		await comes("budgets --context c1 -n ", [namespace]);
	});

	test("has the id of a drain that somebody stopped", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
		const pod = (await database.pods()).find(({ context }) => context === "c1");
		using run = startPlugin(["drain", pod?.node ?? "", "--context", "c1-operator", "-y", "--ignore-daemonsets"]);
		await run.printed(/pod \S+ waits: .*\n/);
		run.child.kill("SIGINT");
		const [, id = ""] = /^Continue: +kubectl xpdb drain --resume (\w+)/m.exec((await run.finished).stderr) ?? [];
		expect(id).not.toBe("");
		await comes("drain --context c1-operator --resume ", [id]);
		await comes(`uncordon --contexts ${three} --op=${id.slice(0, 2)}`, [`--op=${id}`]);
	});

	test("has nothing, and no error, for who may not list", async () => {
		for (const line of [
			"drain --context c1 --as nobody ",
			"evict --context c1 --as nobody -n default ",
			"ops --context c1 --as nobody -n ",
		]) {
			expect(await completed(line)).toEqual({ values: [], directive: ":4" });
			expect(await plugin(["__complete", ...line.split(" ")])).toMatchObject({ code: 0, stdout: ":4\n", stderr: "" });
		}
	});

	test("has nothing, and no error, of a cluster that does not answer, and goes on without it", async () => {
		await using server = await silentServer(sharedFleet().dir);
		await eventually("a question that gets no answer", async () => {
			expect(await completed("drain ", server.path)).toEqual({ values: [], directive: ":4" });
			return server.asked() > 0;
		});
		expect(await completed("drain --context ", server.path)).toEqual({ values: ["silent"], directive: ":4" });
		const found = await plugin(["__complete", "drain", ""], { KUBECONFIG: server.path });
		expect(found).toMatchObject({ code: 0, stdout: ":4\n", stderr: "" });
	});

	test("has at the next key what came too late at the one before, and asks nobody again for it", async () => {
		const env = { KUBECACHEDIR: mkdtempSync(join(sharedFleet().dir, "cache-")) };
		const line = ["__complete", "drain", "--context", "c1-operator", ""];
		const node = /^c1-n0$/m;
		await fleetControl().setLink("plugin->c1", { delayMs: 200 });
		try {
			// A connection, TLS and a request take six times the delay, longer than completion waits.
			expect(await plugin(line, env)).toMatchObject({ code: 0, stdout: ":4\n", stderr: "" });
			await eventually("the names", async () => node.test((await plugin(line, env)).stdout), 8_000);
		} finally {
			await fleetControl().setLink("plugin->c1", {});
		}
		await fleetControl().setLink("plugin->c1", { blackHole: "both" });
		try {
			expect((await plugin(line, env)).stdout).toMatch(node);
			const other = [...line.slice(0, -1), "--as", "nobody", ""];
			expect((await plugin(other, env)).stdout).toBe(":4\n");
		} finally {
			await fleetControl().setLink("plugin->c1", {});
		}
	});

	test("ends its question in the background with the shell", async () => {
		const { dir } = sharedFleet();
		await using server = await silentServer(dir);
		const namespace = `tab-${process.pid}`;
		const running = () => countRunning("__complete-in-background", namespace);
		const env = {
			PATH: [join(dir, "bin"), process.env["PATH"]].join(delimiter),
			KUBECONFIG: server.path,
			KUBECACHEDIR: mkdtempSync(join(dir, "cache-")),
			PS1: "$ ",
			TERM: "dumb",
		};
		using terminal = startInTerminal("bash", ["--norc", "--noprofile", "-i"], { env });
		terminal.press('source <(kubectl-xpdb completion bash); echo set"" up\r');
		await terminal.shows("set up");
		terminal.press(`kubectl-xpdb evict -n ${namespace} \tX`);
		await terminal.shows(/ X$/m);
		await eventually("the question in the background", async () => running() > 0, 5_000);
		terminal.hangUp();
		await eventually("its end", async () => running() === 0, 2_000);
	});
});
