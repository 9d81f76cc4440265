// Runs a program in a real terminal and records it.
import { type PseudoTerminal, startInTerminal } from "../support/pseudo-terminal.ts";
import { screenRows } from "./screen-rows.ts";
import { type Frame, movingPicture, stillPicture } from "./terminal-svg.ts";

export interface Scene {
	readonly program: string;
	readonly args: readonly string[];
	readonly columns: number;
	readonly rows: number;
	readonly env?: Readonly<Record<string, string>>;
}

export interface Recording {
	readonly terminal: PseudoTerminal;
	readonly still: (title: string) => string;
	/** Resolves at the end of the program with all that it has shown since its screen opened. Rejects with the last screen if it failed. */
	readonly moving: (title: string) => Promise<string>;
}

const lookEveryMs = 250;

export function record({ program, args, columns, rows, env = {} }: Scene): Recording {
	const terminal = startInTerminal(program, args, { columns, rows, env, patienceMs: 3 * 60_000 });
	const frames: Frame[] = [];
	const begin = performance.now();
	const look = (): void => {
		const shown = screenRows(terminal.screen);
		if (frames.length === 0 && !terminal.screen.isAlternate) return;
		const isNew = JSON.stringify(frames.at(-1)?.rows) !== JSON.stringify(shown);
		if (isNew) frames.push({ at: performance.now() - begin, rows: shown });
	};
	const looking = setInterval(look, lookEveryMs);
	const ended = terminal.ended.finally(() => clearInterval(looking));
	return {
		terminal,
		still: (title) => stillPicture(screenRows(terminal.screen), { columns, rows, title }),
		async moving(title) {
			const { exitCode } = await ended;
			look();
			if (exitCode !== 0) throw new Error(`it ended with ${exitCode}:\n${terminal.screen.lines.join("\n")}`);
			return movingPicture(frames, { columns, rows, title });
		},
	};
}
