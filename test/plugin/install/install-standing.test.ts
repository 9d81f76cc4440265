import { expect, test } from "vitest";
import { InstallStanding } from "../../../plugin/install/install-standing.ts";
import { exitCode } from "../../../plugin/terminal/exit.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";
import { newContext } from "../../support/build-context.ts";
import { collectStreams } from "../../support/collected-streams.ts";

function begin() {
	const streams = collectStreams();
	const left: number[] = [];
	const interrupts = new InterruptSource((code) => left.push(code));
	const standing = new InstallStanding([newContext("eu")], interrupts, streams.stderr);
	return { standing, interrupts, left, err: () => streams.err() };
}

test("whoever leaves an installation that plans is told that nothing was touched", () => {
	const { interrupts, left, err } = begin();
	interrupts.interrupt(exitCode.interrupted);
	expect(left).toEqual([exitCode.interrupted]);
	expect(err()).toBe("error: interrupted: nothing was touched\n");
});

test("whoever does not wait for what is being applied is told what may stand", () => {
	const { standing, interrupts, left, err } = begin();
	standing.phase = "applying";
	interrupts.graceful();
	interrupts.interrupt(exitCode.terminated);
	expect(err()).toBe("");
	interrupts.interrupt(exitCode.terminated);
	expect(left).toEqual([exitCode.terminated]);
	expect(err()).toContain("what is listed above was applied, and maybe the next; run the same command to continue");
});

test("whoever does not wait for the checks is told how to make them", () => {
	const { standing, err } = begin();
	standing.phase = "checking";
	standing.tell();
	expect(err()).toBe(
		"error: interrupted: everything is applied, but the checks are not finished: run kubectl xpdb check --context eu\n",
	);
});

test("a reader who has all they wanted is told nothing, and nobody once it is over", () => {
	const { standing, interrupts, err } = begin();
	interrupts.interrupt(exitCode.stoppedEarly, { atOnce: exitCode.done });
	standing[Symbol.dispose]();
	interrupts.interrupt(exitCode.interrupted);
	expect(err()).toBe("");
});
