// A screen of the shipped plugin on a pseudo-terminal, with the frames that reached it.
import { loadavg } from "node:os";
import { type PseudoTerminal, startInTerminal } from "../../support/pseudo-terminal.ts";
import type { Bench } from "../bench.ts";
import { programEnvironment, programPath } from "../programs.ts";
import { FrameLog } from "./frame-log.ts";

export interface BenchScreen extends Disposable {
	readonly terminal: PseudoTerminal;
	readonly frames: FrameLog;
	/** When the process was asked for. */
	readonly startedAt: number;
	/** Milliseconds from the start of the process until what was written so far has this. */
	timeTo(text: RegExp): Promise<number>;
}

/** As wide as people have it where three clusters are watched. */
const size = { columns: 140, rows: 40 };
/** Beside other work a start takes long. */
const patienceMs = 120_000;

export function openScreen(bench: Bench, args: readonly string[]): BenchScreen {
	const frames = new FrameLog();
	let output = "";
	const startedAt = performance.now();
	const terminal = startInTerminal(programPath(bench, "kubectl-xpdb"), args, {
		...size,
		env: programEnvironment(bench),
		patienceMs,
		onData(data) {
			frames.see(data, performance.now());
			output += data;
		},
	});
	return {
		terminal,
		frames,
		startedAt,
		async timeTo(text) {
			let at = 0;
			await terminal.until(() => {
				if (at === 0 && text.test(output)) {
					at = performance.now();
					// It grows for as long as somebody looks.
					output = "";
				}
				return at > 0;
			});
			return at - startedAt;
		},
		[Symbol.dispose]: () => terminal[Symbol.dispose](),
	};
}

export function contextFlag({ fleet }: Bench): string {
	return `--contexts=${fleet.contexts.map((context) => `${context}-operator`).join(",")}`;
}

/** How many processes want a core, over the last minute: what a figure in milliseconds has to be read with. */
export function loadText(): string {
	return `load ${loadavg()[0]?.toFixed(1)}`;
}
