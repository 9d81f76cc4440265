// .github/workflows/release.yml runs nowhere but at GitHub: here at least what it names is there.
import { expect, test } from "vitest";
import { parse } from "yaml";
import { targets } from "../../scripts/package/targets.ts";
import { readSource } from "../architecture/source-files.ts";

interface Step {
	readonly uses?: string;
	readonly run?: string;
}

interface Job {
	readonly needs?: string | readonly string[];
	readonly permissions?: Readonly<Record<string, string>>;
	readonly strategy?: { readonly matrix: { readonly include: readonly { readonly target: string }[] } };
	readonly steps: readonly Step[];
}

const text = readSource(".github/workflows/release.yml");
const { jobs, permissions } = parse(text) as {
	readonly jobs: Readonly<Record<string, Job>>;
	readonly permissions: Readonly<Record<string, string>>;
};
const steps = Object.values(jobs).flatMap((job) => job.steps);

test("the scripts that the release workflow runs are those of package.json", () => {
	const { scripts } = JSON.parse(readSource("package.json")) as { scripts: Readonly<Record<string, string>> };
	const words = steps.flatMap(({ run = "" }) =>
		[...run.matchAll(/\bnpm (?:run (?:--silent )?)?([\w-]+)/g)].map(([, word = ""]) => word),
	);
	expect(new Set(words)).toEqual(new Set(["test", "ci", "notes", "package", "image", "start"]));
	expect(words.filter((word) => word !== "ci" && scripts[word] === undefined)).toEqual([]);
	// Nor does it start a script of ours past them.
	expect(steps.filter(({ run = "" }) => /\bnode\b/.test(run))).toEqual([]);
});

test("its actions are each one commit", () => {
	const uses = steps.flatMap((step) => step.uses ?? []);
	expect(uses.length).toBeGreaterThan(4);
	expect(uses.filter((action) => !/^actions\/[\w-]+@[\da-f]{40}$/.test(action))).toEqual([]);
});

test("it tries the plugin of every platform before it publishes, and only the last job may write", () => {
	const tried = jobs["try"]?.strategy?.matrix.include.map(({ target }) => target);
	expect(tried?.toSorted()).toEqual(targets.map(({ os, arch }) => `${os}_${arch}`).toSorted());
	expect(jobs["publish"]?.needs).toEqual(["test", "package", "image", "try"]);
	expect(permissions).toEqual({ contents: "read" });
	expect(Object.entries(jobs).flatMap(([name, job]) => (job.permissions ? [name] : []))).toEqual(["publish"]);
});
