// Tests the order of a test run's steps, with programs that wait for each other's files.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runLanes, type Step, type StepResult } from "../../scripts/suites/run-steps.ts";
import { tallyOfExit } from "../../scripts/suites/tally.ts";

const script = `
import { existsSync, writeFileSync } from "node:fs";
const [folder, own, other] = process.argv.slice(2);
writeFileSync(folder + "/" + own, "");
const until = Date.now() + 10_000;
const look = () => {
	if (existsSync(folder + "/" + other)) process.exit(0);
	if (Date.now() > until) process.exit(1);
	setTimeout(look, 10);
};
look();
`;

describe("runLanes()", () => {
	let folder = "";
	beforeAll(async () => {
		folder = await mkdtemp(join(tmpdir(), "xpdb-steps-"));
		await writeFile(join(folder, "wait.mjs"), script);
	});
	afterAll(() => rm(folder, { recursive: true }));

	const meeting = (own: string, other: string): Step => ({
		name: own,
		command: [join(folder, "wait.mjs"), folder, own, other],
		tally: tallyOfExit,
	});
	const run = async (steps: readonly (Step | readonly Step[])[], isInterrupted = () => false) => {
		const told: StepResult[] = [];
		const signal = new AbortController().signal;
		const onEnd = (result: StepResult): void => void told.push(result);
		const options = { signal, backgroundSignal: signal, isInterrupted, onEnd };
		const results = await runLanes([{ steps, isBackground: false }], options);
		expect(told.toSorted(byName)).toEqual(results.toSorted(byName));
		return results.map(({ step, tally }) => [step.name, tally.failed]);
	};

	test("runs the steps of a group at the same time, and the next one after them", async () => {
		const after = meeting("c", "a");
		expect(await run([[meeting("a", "b"), meeting("b", "a")], after])).toEqual([
			["a", 0],
			["b", 0],
			["c", 0],
		]);
	});

	test("goes on after one that failed", async () => {
		const missing: Step = { name: "none", command: [join(folder, "none.mjs")], tally: tallyOfExit };
		expect(await run([[missing, meeting("d", "d")], meeting("e", "e")])).toEqual([
			["none", 1],
			["d", 0],
			["e", 0],
		]);
	});

	test("starts nothing more once it was interrupted", async () => {
		expect(await run([[meeting("f", "f")], meeting("g", "g")], () => true)).toEqual([
			["f", 1],
			["g", 1],
		]);
	});

	test("ends the steps in the background alone at their own signal", async () => {
		const stop = new AbortController();
		const shared = { signal: new AbortController().signal, isInterrupted: () => false };
		const lanes = [
			{ steps: [meeting("main", "go-on")], isBackground: false },
			{ steps: [meeting("background", "never")], isBackground: true },
		];
		const onEnd = ({ step }: StepResult): void => {
			if (step.name === "background") void writeFile(join(folder, "go-on"), "");
		};
		const running = runLanes(lanes, { ...shared, backgroundSignal: stop.signal, onEnd });
		setTimeout(() => stop.abort(), 500);
		expect((await running).map(({ step, tally }) => [step.name, tally.failed])).toEqual([
			["main", 0],
			["background", 1],
		]);
	});
});

function byName(a: StepResult, b: StepResult): number {
	return a.step.name < b.step.name ? -1 : 1;
}
