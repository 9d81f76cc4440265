// Compares kubectl's answers with the recorded ones and, for generated kubeconfigs, with xpdb's. Runs each night and whenever XPDB_KUBECTL
// is set. XPDB_KUBECTL=record keeps the new answers instead of comparing them.
import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findOrBuildBinaries } from "../../controlplane/binaries.ts";
import { askKubectl, askOurselves, comparable, type KubeconfigAnswer } from "./kubeconfig-answers.ts";
import { generatedKubeconfigs } from "./kubeconfig-generator.ts";
import type { KubeconfigRow } from "./kubeconfig-row.ts";
import { kubeconfigRows, recordAnswers, recordedAnswers } from "./recorded-kubeconfigs.ts";

const mode = process.env["XPDB_KUBECTL"];

describe.runIf(mode !== undefined)("kubectl reads kubeconfigs", () => {
	test("as it is kept", async () => {
		const { kubectl } = await findOrBuildBinaries({ log: () => undefined });
		const answers = await askAll(kubectl, kubeconfigRows);
		if (mode === "record") {
			recordAnswers(versionOf(kubectl), answers);
			return;
		}
		const kept = recordedAnswers();
		expect(Object.fromEntries([...answers].map(([{ name }, answer]) => [name, answer]))).toEqual(
			Object.fromEntries([...kept].map(([{ name }, answer]) => [name, answer])),
		);
	});

	test("those that are generated as we do", async () => {
		const { kubectl } = await findOrBuildBinaries({ log: () => undefined });
		const seed = Date.now() % 2 ** 31;
		const rows = fc
			.sample(generatedKubeconfigs, { seed, numRuns: 300 })
			.map((file, index) => ({ name: `${index}`, files: [file] }));
		for (const [row, answer] of await askAll(kubectl, rows)) {
			expect(comparable(await askOurselves(row)), `seed ${seed}:\n${String(row.files[0])}`).toEqual(comparable(answer));
		}
	});
});

async function askAll(
	kubectl: string,
	rows: readonly KubeconfigRow[],
): Promise<ReadonlyMap<KubeconfigRow, KubeconfigAnswer>> {
	const answers = new Map<KubeconfigRow, KubeconfigAnswer>();
	const left = rows.values();
	await Promise.all(
		Array.from({ length: availableParallelism() * 2 }, async () => {
			for (const row of left) answers.set(row, await askKubectl(kubectl, row));
		}),
	);
	return new Map(rows.map((row) => [row, answers.get(row) ?? {}]));
}

function versionOf(kubectl: string): string {
	const version = execFileSync(kubectl, ["version", "--client", "-o", "json"], { encoding: "utf8" });
	const { clientVersion } = JSON.parse(version) as { readonly clientVersion: { readonly gitVersion: string } };
	return clientVersion.gitVersion;
}
