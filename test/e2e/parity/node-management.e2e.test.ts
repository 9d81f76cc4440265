// Runs kubectl's own integration test of drain, cordon and uncordon, test/cmd/node-management.sh, with kubectl and with xpdb in its place.
// With xpdb, exactly the assertions in deliberate-differences.ts fail. With kubectl, it runs each night and whenever XPDB_KUBECTL is set.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findOrBuildBinaries } from "../../controlplane/binaries.ts";
import { type RunningCluster, startCluster } from "../../controlplane/cluster.ts";
import { findKubernetesModule } from "../../controlplane/kubernetes-module.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { deliberateDifferences } from "./deliberate-differences.ts";
import {
	type Assertion,
	assertionsOf,
	lastsAtMostMs,
	runNodeManagement,
	type ScriptRun,
	type Verdict,
	writeShim,
} from "./node-management.ts";

const found = findKubernetesModule();
const module = found.kind === "found" ? found.dir : "";

function suite(): void {
	let cluster: RunningCluster | undefined;

	beforeAll(async () => {
		const { dir, octet } = sharedFleet();
		cluster = await startCluster({
			binaries: await findOrBuildBinaries({ log: () => undefined }),
			octet,
			index: 8,
			nodes: 0,
			dir: join(dir, "c8"),
			// Allows pods without a service account, such as those of the script.
			extraFlags: { apiserver: ["--disable-admission-plugins=ServiceAccount"] },
		});
		// No kubelet may report the script's node, and its pods must stay where they are.
		for (const component of ["kwok", "scheduler", "controller-manager"] as const) await cluster.kill(component);
	});
	afterAll(() => cluster?.stop());

	async function run(program: string, path: readonly string[]): Promise<ScriptRun> {
		if (cluster === undefined) throw new Error("no cluster was started");
		const { client } = cluster;
		const nodes = "/api/v1/nodes";
		const { items } = await client.get<{ items: readonly unknown[] }>(nodes);
		if (items.length > 0) await client.send("DELETE", `${nodes}/127.0.0.1`);
		// The annotation creates field managers, which the script inspects.
		const metadata = { name: "127.0.0.1", annotations: { example: "kept" } };
		await client.send("POST", nodes, { apiVersion: "v1", kind: "Node", metadata });
		return runNodeManagement({ module, cluster, dir: join(sharedFleet().dir, "node-management", program), path });
	}

	const isNight = process.env["XPDB_KUBECTL"] !== undefined;
	const itself = `passes with kubectl${isNight ? "" : " (skipped: npm test -- --nightly has it)"}`;
	test.runIf(isNight)(itself, { timeout: lastsAtMostMs }, async () => {
		const { assertions, ...rest } = await run("kubectl", [join(sharedFleet().dir, "bin")]);
		expect(failedOf(assertions), rest.stdout).toEqual([]);
		expect(assertions.map(({ line }) => line)).toEqual(assertionsOf(module).map(({ line }) => line));
		expect(rest, rest.stderr).toMatchObject({ code: 0, isFinished: true });
	});

	const ours = "passes with kubectl xpdb in its place, but for what the table of differences names";
	test(ours, { timeout: lastsAtMostMs }, async () => {
		const { dir } = sharedFleet();
		const shim = join(dir, "node-management", "shim");
		writeShim(shim, join(dir, "bin"));
		const { assertions, ...rest } = await run("xpdb", [shim]);
		const all = assertionsOf(module);
		expect(all.length).toBeGreaterThan(30);
		const named = deliberateDifferences.flatMap((difference) => difference.assertions ?? []);
		const exceptions = named.map((part) => {
			const [found, ...others] = all.filter(({ text }) => text.includes(part));
			if (!found || others.length > 0) throw new Error(`${others.length + 1} assertions have "${part}", not one`);
			return found;
		});
		expect(failedOf(assertions), rest.stdout).toEqual(exceptions.toSorted((a, b) => a.line - b.line));
		expect(assertions.map(({ line }) => line)).toEqual(all.map(({ line }) => line));
		expect(rest, rest.stderr).toMatchObject({ code: 0, isFinished: true });
	});
}

function failedOf(verdicts: readonly Verdict[]): readonly Assertion[] {
	return verdicts.filter(({ holds }) => !holds).map(({ line, text }) => ({ line, text }));
}

describeOnFleet("kubectl's own test of node management", suite, {
	missing: found.kind === "missing" ? found.reason : undefined,
});
