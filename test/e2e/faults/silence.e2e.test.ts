// Tests that a waiting run names the silent part: the API server, the agents behind it, or the network between clusters.
import { afterAll, beforeAll, expect, test } from "vitest";
import { degradeLink, type EndFault, freezeAgent, freezeComponent } from "../../controlplane/faults.ts";
import { describeOnFleet } from "../../controlplane/shared-fleet.ts";
import { agentNames, fleetControl, recoverAgents } from "../agents.ts";
import { createDatabase, type Database } from "../database.ts";
import { type PluginProcess, startPlugin } from "../plugin-process.ts";

const line = (...parts: readonly string[]): RegExp =>
	new RegExp(`^cluster c2 gives no answer for \\S+, nothing is evicted until it does: .*${parts.join(".*")}.*$`, "m");

const grpcWords = /DEADLINE_EXCEEDED|UNAVAILABLE/;

describeOnFleet("while a member of the fleet gives no answer, a run says that it is", () => {
	let database: Database;
	beforeAll(async () => {
		database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 0 } });
	});
	afterAll(async () => {
		await database?.[Symbol.asyncDispose]();
		await recoverAgents();
	});

	async function waitingRun(contexts: readonly string[]): Promise<PluginProcess> {
		const args = ["evict", "-l", "app=db", "-n", database.namespace, "-y"];
		const run = startPlugin([...args, "--contexts", contexts.map((name) => `${name}-operator`).join(",")]);
		await run.printed("waits: ");
		return run;
	}

	async function during(start: () => Promise<readonly EndFault[]>, run: PluginProcess, told: RegExp): Promise<string> {
		const ends = await start();
		try {
			await run.printed(told);
		} finally {
			for (const end of ends) await end();
		}
		await run.printed(/^cluster c2 answers again/m);
		return run.output();
	}

	test("its API server, and how to look at that", async () => {
		using run = await waitingRun(["c1", "c2"]);
		const freeze = async () => [await freezeComponent(fleetControl(), { cluster: "c2", component: "apiserver" })];
		expect(
			await during(
				freeze,
				run,
				line("API server", "; see kubectl get --raw '/readyz\\?verbose' --context c2-operator"),
			),
		).not.toMatch(grpcWords);
	});

	test("its API server, where the way to its agents leads through other clusters", async () => {
		using run = await waitingRun(["c1"]);
		const freeze = async () => [await freezeComponent(fleetControl(), { cluster: "c2", component: "apiserver" })];
		expect(await during(freeze, run, line('cluster "c2": ', "API server"))).not.toMatch(grpcWords);
	});

	test("its agents, whose API server answers, and how to look at those", async () => {
		using run = await waitingRun(["c2"]);
		const freeze = async () => {
			const pods = await agentNames("c2");
			return Promise.all(pods.map((pod) => freezeAgent(fleetControl(), { cluster: "c2", pod })));
		};
		const see =
			"; see kubectl get pods -n xpdb-system -l app.kubernetes.io/name=xpdb-agent -o wide --context c2-operator";
		expect(
			await during(
				freeze,
				run,
				line('asked through the agents of context "c2-operator", whose API server answers', see),
			),
		).not.toMatch(grpcWords);
	});

	test("the network between the agents of two clusters", async () => {
		using run = await waitingRun(["c1"]);
		const cut = async () => [await degradeLink(fleetControl(), "c1->c2", { cut: true })];
		const told = line('no connection from cluster "c1": ');
		expect(await during(cut, run, told)).not.toMatch(/whose API server answers|UNAVAILABLE/);
	});
});
