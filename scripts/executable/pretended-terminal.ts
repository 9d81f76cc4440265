// Pretends to have a terminal, only for the build, so that V8 compiles what a screen needs for its first frame.
import { PassThrough } from "node:stream";
import tty from "node:tty";

/** Makes this process treat its streams as a terminal from now on. */
export function pretendTerminal(): void {
	delete process.env["CI"];
	process.env["TERM"] = "xterm";
	tty.isatty = () => true;
	Object.assign(process.stdout, { isTTY: true, columns: 100, rows: 30 });
	const keys = new PassThrough();
	const stdin = Object.assign(keys, { isTTY: true, setRawMode: () => keys, ref: () => keys, unref: () => keys });
	Object.defineProperty(process, "stdin", { value: stdin });
}
