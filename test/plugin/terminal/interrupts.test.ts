import { describe, expect, test } from "vitest";
import { exitCode } from "../../../plugin/terminal/exit.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";

function newSource() {
	const left: number[] = [];
	return { left, source: new InterruptSource((code) => void left.push(code)) };
}

describe("InterruptSource", () => {
	test("before a run is under way, the first Ctrl-C leaves", () => {
		const { left, source } = newSource();
		source.interrupt(exitCode.interrupted);
		expect(left).toEqual([130]);
		expect(source.stop.aborted).toBe(false);
	});

	test("the first one stops a run, the second leaves with the code of the first", () => {
		const { left, source } = newSource();
		source.graceful();
		source.interrupt(exitCode.terminated);
		expect(source.stop.aborted).toBe(true);
		expect(source.stoppedBy).toBe(143);
		expect(left).toEqual([]);
		source.interrupt(exitCode.interrupted);
		expect(left).toEqual([143]);
	});

	test("whoever has last words says them before the process leaves", () => {
		const { left, source } = newSource();
		const said: number[] = [];
		source.onLeave((code) => void said.push(code, left.length));
		source.onLeave((code) => void said.push(code))();
		source.interrupt(exitCode.terminated);
		expect({ said, left }).toEqual({ said: [143, 0], left: [143] });
	});

	test("a closed pipe ends a table quietly and stops a run early", () => {
		const table = newSource();
		table.source.interrupt(exitCode.stoppedEarly, { atOnce: 0 });
		expect(table.left).toEqual([0]);
		const run = newSource();
		run.source.graceful();
		run.source.interrupt(exitCode.stoppedEarly, { atOnce: 0 });
		expect(run.source.stoppedBy).toBe(2);
	});
});
