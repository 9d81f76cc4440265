// Runs the real kubectl and kubectl xpdb in the same situations. Output, exit code, nodes and pods are the same, except for the differences
// in deliberate-differences.ts.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findOrBuildBinaries } from "../../controlplane/binaries.ts";
import { type RunningCluster, startCluster } from "../../controlplane/cluster.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { commandLineSituations } from "./command-line-situations.ts";
import { deliberateDifferences } from "./deliberate-differences.ts";
import { evictionSituations } from "./eviction-situations.ts";
import { filterSituations } from "./filter-situations.ts";
import { nodeSituations } from "./node-situations.ts";
import type { Outcome } from "./outcome.ts";
import { RecordedOutcomes } from "./recorded-outcomes.ts";
import type { Stage } from "./scene.ts";
import type { Situation } from "./situation.ts";
import { connectStage, runSideBySide, type SideBySide } from "./side-by-side.ts";
import { startWebhook, type Webhook } from "./webhook.ts";
import { withoutAgentsSituations } from "./without-agents-situations.ts";

const situations = [
	...evictionSituations,
	...filterSituations,
	...nodeSituations,
	...withoutAgentsSituations,
	...commandLineSituations,
];

describeOnFleet("kubectl and kubectl xpdb", () => {
	let lonely: RunningCluster | undefined;
	let webhook: Webhook | undefined;
	let both: SideBySide | undefined;
	let recorded: RecordedOutcomes | undefined;
	const played = new Map<Situation, Outcome>();
	const stages: Stage[] = [];

	beforeAll(async () => {
		const { dir, octet, clusters, kubeconfigPath } = sharedFleet();
		const opened = await startWebhook();
		webhook = opened;
		// A cluster without xpdb.
		lonely = await startCluster({
			binaries: await findOrBuildBinaries({ log: () => undefined }),
			octet,
			index: 9,
			nodes: 0,
			dir: join(dir, "c9"),
		});
		const [kubectl, ours] = clusters.slice(0, 2).map((cluster) =>
			connectStage(cluster, {
				kubeconfig: kubeconfigPath,
				contexts: { admin: cluster.name, operator: `${cluster.name}-operator` },
				webhook: opened,
			}),
		);
		const alone: Stage = {
			cluster: lonely.name,
			kubeconfig: lonely.kubeconfigPath,
			contexts: { admin: lonely.name, operator: lonely.name },
			auditLog: lonely.auditLog,
			client: lonely.client,
			webhook: opened,
		};
		if (!kubectl || !ours) throw new Error("the fleet has fewer than two clusters");
		stages.push(kubectl, ours);
		const bin = join(dir, "bin");
		const version = execFileSync(join(bin, "kubectl"), ["version", "--client", "-o", "json"], { encoding: "utf8" });
		const { clientVersion } = JSON.parse(version) as { readonly clientVersion: { readonly gitVersion: string } };
		recorded = new RecordedOutcomes(clientVersion.gitVersion);
		both = await runSideBySide(
			situations,
			({ withoutAgents }) => (withoutAgents ? { kubectl: alone, ours: alone } : { kubectl, ours }),
			{ bin, recorded },
		);
	});

	afterAll(async () => {
		if (played.size === situations.length) recorded?.record(played);
		await both?.close();
		for (const { client } of stages) client.close();
		webhook?.close();
		await lonely?.stop();
	});

	for (const situation of situations) {
		const { name } = situation;
		const differences = deliberateDifferences.filter((difference) => difference.situations.includes(name));
		const marked = differences.length > 0 ? ` (${differences.map(({ subject }) => subject).join(", ")})` : "";
		test(`${name}${marked}`, async () => {
			if (!both || !recorded) throw new Error("nothing was run");
			const { kubectl, ours } = await both.outcomes(name);
			played.set(situation, kubectl);
			expect(recorded.difference(situation, kubectl), "kubectl answers otherwise than recorded").toBeUndefined();
			let expected = kubectl;
			for (const { subject, apply } of differences) {
				const changed = apply(expected);
				expect(changed, `"${subject}" changes nothing here`).not.toEqual(expected);
				expected = changed;
			}
			expect(ours).toEqual(expected);
		});
	}

	test("every difference names situations that there are", () => {
		const known = new Set(situations.map(({ name }) => name));
		expect(known.size).toBe(situations.length);
		expect(deliberateDifferences.flatMap(({ situations: named }) => named).filter((name) => !known.has(name))).toEqual(
			[],
		);
	});
});
