// Tests a screen that is suspended when a login begins to ask.
import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import type { ScreenTerminal } from "../../../plugin/terminal/screen-terminal.ts";
import { TerminalTurns } from "../../../plugin/terminal/terminal-turns.ts";
import { openTerminalScreen } from "../../../plugin/ui/terminal-screen.tsx";

const entersAlternate = "\u001b[?1049h";

test("does not come back over a login that asks since it was suspended", async () => {
	using _ = vi.spyOn(process, "kill").mockReturnValue(true);
	const raw: boolean[] = [];
	const nothing = () => undefined;
	const setRawMode = (is: boolean): void => void raw.push(is);
	const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode, ref: nothing, unref: nothing });
	const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
	const written = (): string => String(stdout.read() ?? "");
	const turns = new TerminalTurns();
	const terminal = { stdin, stdout, stderr: stdout, isOutputFile: false, turns, isErrorTerminal: true };
	const screen = openTerminalScreen({
		terminal: terminal as unknown as ScreenTerminal,
		hasColour: false,
		frame: () => [],
		onKey: nothing,
		onFailure: nothing,
	});
	await vi.waitFor(() => expect(raw).toEqual([true]));
	expect(written()).toContain(entersAlternate);
	screen.suspend();
	await vi.waitFor(() => expect(raw).toEqual([true, false]));
	written();
	// The login takes the terminal before SIGCONT arrives.
	const giveBack = await turns.take();
	expect(stdin.isPaused()).toBe(true);
	process.emit("SIGCONT", "SIGCONT");
	await new Promise((resolve) => {
		setTimeout(resolve, 100);
	});
	expect({ raw, written: written() }).toEqual({ raw: [true, false], written: "" });
	giveBack();
	await vi.waitFor(() => expect(raw).toEqual([true, false, true]));
	expect(written()).toContain(entersAlternate);
	screen.close();
});
