// A terminal that nobody looks at, for the build alone: what a screen needs for its first frame is compiled then.
import { PassThrough } from "node:stream";
import tty from "node:tty";

/** From now on this process takes its streams for a terminal. */
export function pretendTerminal(): void {
	delete process.env["CI"];
	process.env["TERM"] = "xterm";
	tty.isatty = () => true;
	Object.assign(process.stdout, { isTTY: true, columns: 100, rows: 30 });
	const keys = new PassThrough();
	const stdin = Object.assign(keys, { isTTY: true, setRawMode: () => keys, ref: () => keys, unref: () => keys });
	Object.defineProperty(process, "stdin", { value: stdin });
}
