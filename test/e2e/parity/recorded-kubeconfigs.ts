// Keeps kubectl's answers of an earlier run, for all kubeconfigs. XPDB_KUBECTL=play asks kubectl again, each night. XPDB_KUBECTL=record
// keeps the new answers.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../../scripts/repository-root.ts";
import type { KubeconfigAnswer } from "./kubeconfig-answers.ts";
import { kubeconfigFieldRows } from "./kubeconfig-field-rows.ts";
import { type KubeconfigRow, neighbours } from "./kubeconfig-row.ts";
import { kubeconfigYamlRows } from "./kubeconfig-yaml-rows.ts";

export const kubeconfigRows: readonly KubeconfigRow[] = [...kubeconfigFieldRows, ...kubeconfigYamlRows];

interface Recording {
	/** kubectl's version, such as "v1.36.3". */
	readonly kubectl: string;
	/** By the row's name. `files` is a fingerprint of the row's files and of `neighbours`. */
	readonly answers: Readonly<Record<string, { readonly files: string; readonly answer: KubeconfigAnswer }>>;
}

const path = join(repositoryRoot, "test", "e2e", "parity", "recorded-kubeconfigs.json");

function readRecording(): Recording {
	return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Recording) : { kubectl: "", answers: {} };
}

/** Returns the answers for exactly these files, or undefined for a row that must be recorded. */
export function recordedAnswers(): ReadonlyMap<KubeconfigRow, KubeconfigAnswer | undefined> {
	const { answers } = readRecording();
	return new Map(
		kubeconfigRows.map((row) => {
			const kept = answers[row.name];
			return [row, kept?.files === fingerprintOf(row) ? kept.answer : undefined];
		}),
	);
}

export function recordAnswers(kubectl: string, answers: ReadonlyMap<KubeconfigRow, KubeconfigAnswer>): void {
	const lines = [...answers].map(
		([row, answer]) => `${JSON.stringify(row.name)}: ${JSON.stringify({ files: fingerprintOf(row), answer })}`,
	);
	writeFileSync(path, `{"kubectl": ${JSON.stringify(kubectl)}, "answers": {\n${lines.join(",\n")}\n}}\n`);
}

function fingerprintOf({ files }: KubeconfigRow): string {
	const hash = createHash("sha256").update(JSON.stringify(neighbours));
	for (const file of files) hash.update("\0").update(file);
	return hash.digest("hex").slice(0, 16);
}
