// Checks that the contract in proto/ stays compatible with an earlier one, so that agents and plugins of different versions understand each
// other. XPDB_PROTO_BASE names the earlier commit (default `main`), or is "none" for an intended break. Exit code 3 means that there was
// nothing to compare with.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "./run-command.ts";

async function compare(base: string): Promise<number> {
	const target = await mkdtemp(join(tmpdir(), "xpdb-breaking-"));
	try {
		const archive = join(target, "base.tar");
		const old = await runCommand(["git", "archive", "--output", archive, base, "proto", "buf.yaml"]);
		if (old.code !== 0) {
			console.log(`no contract at git's "${base}" to compare with`);
			return 3;
		}
		const steps = [
			["tar", "-xf", archive, "-C", target],
			["buf", "breaking", "--against", target],
		] as const;
		for (const step of steps) {
			const { code, output } = await runCommand([...step]);
			if (code !== 0) {
				console.error(
					`${output.trimEnd()}\nThis breaks agents and plugins as they are at "${base}". If that is meant: XPDB_PROTO_BASE=none`,
				);
				return 1;
			}
		}
		return 0;
	} finally {
		await rm(target, { recursive: true, force: true });
	}
}

const base = process.env["XPDB_PROTO_BASE"] || "main";
if (base === "none") {
	console.log("XPDB_PROTO_BASE is none");
	process.exitCode = 3;
} else {
	process.exitCode = await compare(base);
}
