import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../../../plugin/run-command.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { startInTerminal } from "../../support/pseudo-terminal.ts";
import { patiently } from "../../support/skipping-clock.ts";
import { createScratchFolder } from "../kubernetes/scratch-folder.ts";

const scratch = createScratchFolder("completion");

async function completion(words: readonly string[], path = "") {
	const streams = collectStreams();
	const interrupts = new InterruptSource(() => undefined);
	const code = await run(["completion", ...words], { streams, env: { PATH: path }, interrupts });
	return { code, out: streams.out(), err: streams.err() };
}

/** Creates a program that records its arguments, one per line, and prints the answer from the file beside it. */
function program(folder: string, answer: string): string {
	scratch.write(`${folder}/kubectl-xpdb.answer`, answer);
	const path = scratch.write(
		`${folder}/kubectl-xpdb`,
		`#!/bin/sh\nfor word in "$@"; do printf '%s\\n' "$word"; done > "$0.asked"\ncat "$0.answer"\n`,
	);
	chmodSync(path, 0o755);
	return join(scratch.folder, folder);
}

/** The shells run without the user's own configuration. */
const shells = [
	{ shell: "bash", syntax: "-n", bare: ["--norc", "--noprofile", "-i"], before: "true" },
	{ shell: "zsh", syntax: "-n", bare: ["-f", "-i"], before: "autoload -Uz compinit; compinit -u -D" },
	{ shell: "fish", syntax: "--no-execute", bare: ["--no-config", "-i"], before: "true" },
].map((each) => ({ ...each, isThere: spawnSync(each.shell, ["-c", "true"]).status === 0 }));

/** What is typed before the Tab key, the program's answer, and the words of the call after typing X and Enter. */
const atTheKey = [
	{ typed: "dr", answer: "drain\tDrain: all of it\n:4\n", called: ["drain", "X"] },
	{ typed: "ops --contexts=eu,", answer: "--contexts=eu,us\tboth\n:4\n", called: ["ops", "--contexts=eu,us", "X"] },
	{ typed: "drain eu/", answer: "eu/n1\tx\neu/n12\n:4\n", called: ["drain", "eu/n1X"] },
	{ typed: "ops --context ", answer: "arn:eu\n:4\n", called: ["ops", "--context", "arn:eu", "X"] },
	{ typed: "explain p", answer: "pod/\n:6\n", called: ["explain", "pod/X"] },
	{ typed: "report run.nd", answer: ":0\n", called: ["report", "run.ndjson", "X"] },
	{ typed: "ops --kubeconfig=run.nd", answer: ":0\n", called: ["ops", "--kubeconfig=run.ndjson", "X"] },
	{ typed: "drain run.nd", answer: ":4\n", called: ["drain", "run.ndX"] },
];

describe("completion", () => {
	for (const { shell, syntax, bare, before, isThere } of shells) {
		test.skipIf(!isThere)(`${shell} understands its script`, async () => {
			const { out, code } = await completion([shell]);
			expect(code).toBe(0);
			const check = spawnSync(shell, [syntax, scratch.write(`${shell}.script`, out)], { encoding: "utf8" });
			expect(check).toMatchObject({ status: 0, stderr: "" });
		});

		test.skipIf(!isThere)(`${shell} completes at the Tab key on a terminal`, { timeout: 60_000 }, async () => {
			const folder = program(`keys-${shell}`, "");
			const script = scratch.write(`keys-${shell}/script`, (await completion([shell])).out);
			scratch.write(`keys-${shell}/files/run.ndjson`, "");
			const env = { PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}`, HOME: folder, PS1: "$ ", TERM: "dumb" };
			using terminal = startInTerminal(shell, bare, { env, columns: 150, patienceMs: 10_000 });
			terminal.press(`${before}; source ${script}; cd ${folder}/files; echo set"" up\r`);
			await terminal.shows("set up");
			for (const { typed, answer, called } of atTheKey) {
				scratch.write(`keys-${shell}/kubectl-xpdb.answer`, answer);
				terminal.press(`kubectl-xpdb ${typed}\tX\r`);
				const asked = (): string => readFileSync(join(folder, "kubectl-xpdb.asked"), "utf8");
				await expect
					.poll(() => existsSync(join(folder, "kubectl-xpdb.asked")) && asked(), patiently)
					.toBe(`${called.join("\n")}\n`);
			}
		});
	}

	test("every shell's script asks the program", async () => {
		for (const { shell } of shells) expect((await completion([shell])).out).toContain("__complete");
	});

	test("bash is given what fits the word, also behind its own ends of words, and files where they may be", async () => {
		const folder = program("bash", "--contexts=eu,us\tboth\n:4\n");
		const script = scratch.write("bash/script", (await completion(["bash"])).out);
		const line = "kubectl-xpdb drain --contexts=eu,";
		const typed = `source ${script}; PATH=${folder}:$PATH; COMP_LINE='${line}'; COMP_POINT=${line.length}; COMP_WORDS=(kubectl-xpdb drain --contexts = eu,); COMP_CWORD=4; _kubectl_xpdb; printf '%s\\n' "\${COMPREPLY[@]}"`;
		const { stdout, stderr } = spawnSync("bash", ["-c", typed], { encoding: "utf8" });
		expect(stderr).toBe("");
		expect(stdout).toBe("eu,us\n");
		expect(readFileSync(join(folder, "kubectl-xpdb.asked"), "utf8")).toBe("__complete\ndrain\n--contexts=eu,\n");
	});

	test("install writes what kubectl calls beside the program, and uninstall removes that and nothing else", async () => {
		const folder = program("path", ":4\n");
		const path = `${join(scratch.folder, "nowhere")}${delimiter}${folder}${delimiter}/usr/bin${delimiter}/bin`;
		const shim = join(folder, "kubectl_complete-xpdb");
		expect(await completion(["install"], path)).toMatchObject({ code: 0, out: expect.stringContaining(shim) });
		const called = spawnSync(shim, ["drain", ""], { encoding: "utf8", env: { PATH: path } });
		expect(called.stdout).toBe(":4\n");
		expect(readFileSync(join(folder, "kubectl-xpdb.asked"), "utf8")).toBe("__complete\ndrain\n\n");
		expect(await completion(["install"], path)).toMatchObject({ code: 0 });
		expect(await completion(["uninstall"], path)).toMatchObject({ code: 0, out: `${shim} removed\n` });
		expect(existsSync(shim)).toBe(false);

		scratch.write("path/kubectl_complete-xpdb", "#!/bin/sh\n# somebody else's\n");
		expect(await completion(["install"], path)).toMatchObject({ code: 1, err: expect.stringContaining("not ours") });
		expect(await completion(["uninstall"], path)).toMatchObject({ code: 0, out: expect.stringContaining("no ") });
		expect(existsSync(shim)).toBe(true);
	});

	test("uninstall takes the names away that were kept for the next key, and leaves what is beside them", async () => {
		const env = { PATH: "", KUBECACHEDIR: join(scratch.folder, "cache") };
		const names = scratch.write("cache/kubectl-xpdb/names/a.json", "{}");
		const beside = scratch.write("cache/kubectl-xpdb/code/a", "");
		const streams = collectStreams();
		const interrupts = new InterruptSource(() => undefined);
		expect(await run(["completion", "uninstall"], { streams, env, interrupts })).toBe(0);
		expect(streams.out()).toContain(`${dirname(names)} removed\n`);
		expect([existsSync(dirname(names)), existsSync(beside)]).toEqual([false, true]);
	});

	test("refuses another word, and to be installed where there is no program", async () => {
		for (const words of [[], ["tcsh"], ["bash", "zsh"], ["constructor"]]) {
			expect(await completion(words)).toMatchObject({ code: 1, err: expect.stringContaining("USAGE: completion") });
		}
		expect(await completion(["install"], "/nowhere")).toMatchObject({
			code: 1,
			err: expect.stringContaining("on PATH"),
		});
	});
});
