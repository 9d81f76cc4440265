// The last step of `npm run build`: writes dist/kubectl-xpdb, one file for this machine that needs no Node. `-- --folder FOLDER` writes to
// another folder. Scripts that need only the bundles leave this step out, because it takes some seconds.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { noticesFile } from "../bundle.ts";
import { nodeNotice } from "../licence-notices.ts";
import { repositoryRoot } from "../repository-root.ts";
import { buildExecutable } from "./build-executable.ts";
import { compileProgram } from "./compile-program.ts";
import { writeProgramParts } from "./program-parts.ts";
import { stripSymbols } from "./strip-symbols.ts";

const node = process.execPath;
const { values } = parseArgs({ options: { folder: { type: "string", default: join(repositoryRoot, "dist") } } });
const name = process.platform === "win32" ? "kubectl-xpdb.exe" : "kubectl-xpdb";
const folder = resolve(values.folder);
const output = join(folder, name);
const parts = mkdtempSync(join(tmpdir(), "xpdb-executable-"));
try {
	await writeProgramParts(parts);
	await compileProgram(node, parts);
	const strip = process.platform === "linux" ? stripSymbols : async () => false;
	await buildExecutable({ parts, node, maker: node, withCode: true, strip, output });
	const licence = readFileSync(join(dirname(dirname(node)), "LICENSE"), "utf8");
	appendFileSync(join(folder, noticesFile), nodeNotice(process.versions.node, licence));
	console.log(
		`${relative(process.cwd(), output)} (${Math.round(statSync(output).size / 1024 / 1024)} MiB with Node ${process.versions.node})`,
	);
} finally {
	rmSync(parts, { recursive: true, force: true });
}
