// Opens a screen of the shipped plugin on a pseudo-terminal, and records its frames.
import { loadavg } from "node:os";
import { type PseudoTerminal, startInTerminal } from "../../support/pseudo-terminal.ts";
import { RecentOutput } from "../../support/recent-output.ts";
import type { Bench } from "../bench.ts";
import { programEnvironment, programPath } from "../programs.ts";
import { FrameLog } from "./frame-log.ts";

export interface BenchScreen extends Disposable {
	readonly terminal: PseudoTerminal;
	readonly frames: FrameLog;
	readonly startedAt: number;
	/** Returns the milliseconds from the start of the process until its output contains this text. */
	timeTo(text: RegExp): Promise<number>;
}

const size = { columns: 140, rows: 40 };
/** Starts are slow while other programs run. */
const patienceMs = 120_000;
/** Several full frames. A screen is watched for minutes, and its output must not slow this process down. */
const keptOutput = 256 * 1024;

export function openScreen(bench: Bench, args: readonly string[]): BenchScreen {
	const frames = new FrameLog();
	const output = new RecentOutput(keptOutput);
	const startedAt = performance.now();
	const terminal = startInTerminal(programPath(bench, "kubectl-xpdb"), args, {
		...size,
		env: programEnvironment(bench),
		patienceMs,
		keptOutput,
		onData(data) {
			frames.see(data, performance.now());
			output.add(data);
		},
	});
	return {
		terminal,
		frames,
		startedAt,
		async timeTo(text) {
			let at = 0;
			await terminal.until(() => {
				if (at === 0 && text.test(output.text)) {
					at = performance.now();
					// The next call looks only at later output.
					output.clear();
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

/** Returns the load average of the last minute, needed to interpret milliseconds. */
export function loadText(): string {
	return `load ${loadavg()[0]?.toFixed(1)}`;
}
