import { spawn } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const main = fileURLToPath(new URL("../../plugin/main.ts", import.meta.url));

describe("the process", () => {
	// Only Linux has /dev/full, a disk that is always full.
	test.skipIf(!existsSync("/dev/full"))("says that its output cannot be written, and fails", async () => {
		const child = spawn(process.execPath, [main, "--help"], { stdio: ["ignore", openSync("/dev/full", "w"), "pipe"] });
		let stderr = "";
		child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
		const code = await new Promise((resolve) => child.once("close", resolve));
		expect({ code, stderr }).toEqual({
			code: 1,
			stderr: "error: cannot write the output: ENOSPC: no space left on device, write\n",
		});
	});
});
