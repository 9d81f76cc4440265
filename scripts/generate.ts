// `npm run generate`: rewrites proto/gen, the manifests in the plugin and in the Helm chart, and the generated parts of docs/. With --check
// it writes nothing, and fails if the contract has findings or a generated file is not current.
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deployTexts, deployTextsFiles } from "./deploy-texts.ts";
import { repositoryRoot } from "./repository-root.ts";
import { runCommand } from "./run-command.ts";

const folder = join("proto", "gen");
const writePages = ["node", join("test", "docs", "write-pages.ts")] as const;

async function check(): Promise<string[]> {
	const target = await mkdtemp(join(tmpdir(), "xpdb-generate-"));
	try {
		const findings: string[] = [];
		for (const command of [
			["buf", "lint"],
			["buf", "format", "--diff", "--exit-code"],
			["buf", "generate", "--output", target],
			[...writePages, "--check"],
		] as const) {
			const { code, output } = await runCommand([...command]);
			if (code !== 0) findings.push(`${command.join(" ")}:\n${output.trimEnd()}`);
		}
		if (findings.length > 0) return findings;
		for (const file of deployTextsFiles) {
			const manifests = join(repositoryRoot, file);
			if (existsSync(manifests) && (await readFile(manifests, "utf8")) === (await deployTexts())) continue;
			findings.push(`${file} is not current: run \`npm run generate\``);
		}
		const [wanted, found] = await Promise.all([readTree(join(target, folder)), readTree(join(repositoryRoot, folder))]);
		for (const file of new Set([...wanted.keys(), ...found.keys()])) {
			if (wanted.get(file) === found.get(file)) continue;
			const problem = !found.has(file)
				? "is missing"
				: !wanted.has(file)
					? "is not generated any more"
					: "is not current";
			findings.push(`${join(folder, file)} ${problem}: run \`npm run generate\``);
		}
		return findings;
	} finally {
		await rm(target, { recursive: true, force: true });
	}
}

async function readTree(path: string): Promise<Map<string, string>> {
	if (!existsSync(path)) return new Map();
	const entries = await readdir(path, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
	return new Map(
		await Promise.all(files.map(async (file) => [file.slice(path.length + 1), await readFile(file, "utf8")] as const)),
	);
}

if (process.argv.includes("--check")) {
	const findings = await check();
	for (const finding of findings) console.error(finding);
	process.exitCode = findings.length > 0 ? 1 : 0;
} else {
	for (const file of deployTextsFiles) await writeFile(join(repositoryRoot, file), await deployTexts());
	for (const command of [["buf", "generate"], writePages] as const) {
		const { code } = await runCommand([...command], { show: true });
		if (code !== 0) process.exitCode = code;
	}
}
