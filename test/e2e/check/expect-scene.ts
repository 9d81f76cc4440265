// Puts the faults of a scene into the clusters, checks, does what it is told, and checks again.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { factsOf } from "../../../plugin/install/check/check-reason.ts";
import { sharedFleet } from "../../controlplane/shared-fleet.ts";
import type { Provocation, Scene } from "./provocation.ts";
import { type Checked, type CheckedFinding, eventuallyChecked, findingsOf, found, placed } from "./run-check.ts";

export async function expectScene({ args, rows, besides = [], always = [] }: Scene): Promise<void> {
	const names = rows.map(({ reason, cluster }) => placed(reason, cluster));
	const known = new Set<string>([...rows.map(({ reason }) => reason), ...besides, ...always]);
	const broken = new Set(rows);
	try {
		for (const { provoke } of rows) await provoke();
		const checked = await eventuallyChecked(names.join(", "), args, (each) => {
			const all = findingsOf(each);
			return rows.every((row) => isFoundIn(row, all)) && all.every(({ reason }) => known.has(reason));
		});
		for (const row of rows) expectFinding(row, checked);
		await doAsTold(rows, findingsOf(checked));
		for (const row of rows) {
			if (typeof row.mend === "function") await row.mend();
			if (row.mend !== undefined) continue;
			await row.end();
			broken.delete(row);
		}
		const stays = new Set<string>(always);
		await eventuallyChecked("none of it any more", args, (each) =>
			findingsOf(each).every(({ reason }) => stays.has(reason)),
		);
	} finally {
		for (const { end } of [...broken].toReversed()) await end();
	}
}

/** Of several findings with that reason, as each agent may give one, one has these words. */
function isFoundIn(row: Provocation, findings: readonly CheckedFinding[]): boolean {
	return findings.some((each) => isOf(row, each) && isLike(each.message, row.says));
}

function isOf({ reason, cluster }: Provocation, finding: CheckedFinding): boolean {
	return finding.reason === reason && finding.cluster === cluster;
}

function isLike(text: string, words: string | RegExp): boolean {
	return typeof words === "string" ? text.includes(words) : words.test(text);
}

function expectFinding(row: Provocation, checked: Checked): void {
	const name = placed(row.reason, row.cluster);
	expect(found(checked)).toContain(name);
	for (const { code, fix } of findingsOf(checked).filter((each) => isOf(row, each))) {
		expect(code).toBe(factsOf(row.reason).code);
		if (row.fix === undefined) expect(fix, name).toBeUndefined();
		else expect(fix, name).toMatch(row.fix);
	}
}

/** Each command once: the same one may help against several. */
async function doAsTold(rows: readonly Provocation[], findings: readonly CheckedFinding[]): Promise<void> {
	const done = new Set<string>();
	for (const row of [...rows.filter(({ mend }) => mend !== "fix"), ...rows.filter(({ mend }) => mend === "fix")]) {
		const fix = findings.find((each) => isOf(row, each))?.fix;
		if (fix === undefined || done.has(fix)) continue;
		done.add(fix);
		const { code, output } = await typeCommand(fix);
		expect({ fix, isDone: code === 0 }, output).toEqual({ fix, isDone: row.isFixSilent !== true });
	}
}

/** As the administrator: what helps an operator an operator may not always do. Who is asked says yes. */
async function typeCommand(command: string): Promise<{ readonly code: unknown; readonly output: string }> {
	const { dir, kubeconfigPath } = sharedFleet();
	const words = command.replaceAll(/\b(c\d)-operator\b/g, "$1").replaceAll(/ --as=\S+/g, "");
	const asks = /^kubectl xpdb (install|upgrade)\b/.test(words);
	const env = { ...process.env, KUBECONFIG: kubeconfigPath, PATH: `${join(dir, "bin")}:${process.env["PATH"]}` };
	return new Promise((resolve) => {
		execFile("sh", ["-c", asks ? `${words} -y` : words], { env }, (error, stdout, stderr) =>
			resolve({ code: error?.code ?? 0, output: `${words}\n${stdout}${stderr}` }),
		);
	});
}
