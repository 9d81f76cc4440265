// Only for the build: pretends to have a terminal, so that V8 compiles what a screen needs for its first frame.
import { PassThrough } from "node:stream";
import tty from "node:tty";

export function pretendTerminal(): void {
	delete process.env["CI"];
	process.env["TERM"] = "xterm";
	tty.isatty = () => true;
	Object.assign(process.stdout, { isTTY: true, columns: 100, rows: 30 });
	const keys = new PassThrough();
	const stdin = Object.assign(keys, { isTTY: true, setRawMode: () => keys, ref: () => keys, unref: () => keys });
	Object.defineProperty(process, "stdin", { value: stdin });
}
