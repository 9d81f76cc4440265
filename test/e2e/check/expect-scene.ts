// Plays a scene: causes its faults, runs a check, follows the check's advice, and checks again.
import { expect } from "vitest";
import { factsOf } from "../../../plugin/check/check-reason.ts";
import { exitCode } from "../../../plugin/terminal/exit.ts";
import type { Provocation, Scene } from "./provocation.ts";
import {
	type Checked,
	type CheckedFinding,
	eventuallyChecked,
	findingsOf,
	found,
	type Place,
	placed,
	typeCommand,
} from "./run-check.ts";

/** `place` gives the clusters, by default the shared fleet. */
export async function expectScene(
	{ args, rows, besides = [], always = [], after = args }: Scene,
	place?: Place,
): Promise<void> {
	const names = rows.map(({ reason, cluster }) => placed(reason, cluster));
	const known = new Set<string>([...rows.map(({ reason }) => reason), ...besides, ...always]);
	const broken = new Set(rows);
	try {
		await inEachCluster(rows, ({ provoke }) => provoke());
		const checked = await eventuallyChecked(
			names.join(", "),
			args,
			(each) => {
				const all = findingsOf(each);
				return rows.every((row) => isFoundIn(row, all)) && all.every(({ reason }) => known.has(reason));
			},
			place,
		);
		for (const row of rows) expectFinding(row, checked);
		await doAsTold(rows, findingsOf(checked), place);
		await inEachCluster(rows, async (row) => {
			if (typeof row.mend === "function") await row.mend();
			if (row.mend !== undefined) return;
			await row.end();
			broken.delete(row);
		});
		const stays = new Set<string>(always);
		await eventuallyChecked(
			"none of it any more",
			after,
			(each) => findingsOf(each).every(({ reason }) => stays.has(reason)),
			place,
		);
	} finally {
		await inEachCluster([...broken].toReversed(), ({ end }) => end());
	}
}

/** Acts on the rows of a cluster in order, and on the clusters concurrently. */
async function inEachCluster(rows: readonly Provocation[], act: (row: Provocation) => Promise<unknown>): Promise<void> {
	const groups = Map.groupBy(rows, ({ cluster }) => cluster);
	await Promise.all(
		[...groups.values()].map(async (those) => {
			for (const row of those) await act(row);
		}),
	);
}

/**
 * Whether a finding with the row's reason and cluster has the row's message. Other findings may have another message, because each agent
 * may report one.
 */
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

/** Runs each command once, because several findings may suggest the same. Commands that change nothing run first and concurrently. */
async function doAsTold(
	rows: readonly Provocation[],
	findings: readonly CheckedFinding[],
	place: Place | undefined,
): Promise<void> {
	const commands = new Map<string, Provocation>();
	for (const row of rows) {
		const fix = findings.find((each) => isOf(row, each))?.fix;
		if (fix !== undefined) commands.set(fix, row);
	}
	const type = async ([fix, { fixCode = 0, mend }]: readonly [string, Provocation]): Promise<void> => {
		const { code, output } = await answered(fix, fixCode, place);
		// A command that ends with a check can fail while an API server does not yet serve a new kind. The next check decides.
		const codes = mend === "fix" ? [fixCode, exitCode.failedClosed] : [fixCode];
		expect({ fix, code, isGood: codes.includes(Number(code)) }, output).toMatchObject({ fix, isGood: true });
	};
	const isMending = ([, { mend }]: readonly [string, Provocation]): boolean => mend === "fix";
	await Promise.all([...commands].filter((each) => !isMending(each)).map(type));
	for (const each of [...commands].filter(isMending)) await type(each);
}

/** Retries for a minute if a cluster on a busy machine gives no answer, unless the scene expects that. */
async function answered(fix: string, fixCode: number, place: Place | undefined): ReturnType<typeof follow> {
	const until = performance.now() + 60_000;
	for (;;) {
		const said = await follow(fix, place);
		if (said.code !== exitCode.failedClosed || fixCode === exitCode.failedClosed || performance.now() > until)
			return said;
	}
}

/** Runs the command as the operator, and as the administrator if the operator lacks the right. */
async function follow(
	command: string,
	place: Place | undefined,
): Promise<{ readonly code: unknown; readonly output: string }> {
	const asks = /^kubectl xpdb (install|upgrade)\b/.test(command) ? " -y" : "";
	const own = await typeCommand(command + asks, place);
	if (own.code === 0 || !/forbidden/i.test(own.stderr + own.stdout)) return { ...own, output: own.stdout + own.stderr };
	const words = command.replaceAll(/\b(c\d)-operator\b/g, "$1").replaceAll(/ --as=\S+/g, "");
	const { code, stdout, stderr } = await typeCommand(words + asks, place);
	return { code, output: `${own.stderr}\n${words}\n${stdout}${stderr}` };
}
