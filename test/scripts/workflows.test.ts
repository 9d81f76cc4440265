// Tests the workflows in .github, which run only at GitHub: what they name exists, and they have no more rights than they need.
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { targets } from "../../scripts/package/targets.ts";
import { listFiles, readSource } from "../architecture/source-files.ts";

interface Step {
	readonly uses?: string;
	readonly run?: string;
	readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
	readonly needs?: string | readonly string[];
	readonly permissions?: Readonly<Record<string, string>>;
	readonly "timeout-minutes"?: number;
	readonly strategy?: { readonly matrix: { readonly include: readonly { readonly target: string }[] } };
	readonly steps: readonly Step[];
}

interface Workflow {
	readonly on: Readonly<Record<string, unknown>>;
	readonly permissions: Readonly<Record<string, string>>;
	readonly jobs: Readonly<Record<string, Job>>;
}

const paths = listFiles()
	.filter((path) => path.startsWith(".github/workflows/"))
	.toSorted();
const read = (path: string): Workflow => parse(readSource(path)) as Workflow;
const release = read(".github/workflows/release.yml");

test("there are those of each push, of each night and of a release", () => {
	expect(paths).toEqual(["check", "nightly", "release"].map((name) => `.github/workflows/${name}.yml`));
});

describe.each(paths)("%s", (path) => {
	const { on, jobs, permissions } = read(path);
	const all = Object.values(jobs);
	const steps = all.flatMap((job) => job.steps);

	test("runs scripts that package.json has, and none of ours past them", () => {
		const { scripts } = JSON.parse(readSource("package.json")) as { scripts: Readonly<Record<string, string>> };
		const words = steps.flatMap(({ run = "" }) =>
			[...run.matchAll(/\bnpm (?:run (?:--silent )?)?([\w-]+)/g)].map(([, word = ""]) => word),
		);
		expect(words.length).toBeGreaterThan(0);
		const ofNpm = ["ci", "audit"];
		expect(words.filter((word) => !ofNpm.includes(word) && scripts[word] === undefined)).toEqual([]);
		expect(steps.filter(({ run = "" }) => /\bnode\b/.test(run))).toEqual([]);
	});

	test("takes each action by one commit", () => {
		const uses = steps.flatMap((step) => step.uses ?? []);
		expect(uses.length).toBeGreaterThan(0);
		expect(uses.filter((action) => !/^actions\/[\w-]+@[\da-f]{40}$/.test(action))).toEqual([]);
	});

	test("gives its jobs no right by default, each an end, and forks no secret", () => {
		expect(permissions).toEqual({});
		expect(all.filter((job) => job["timeout-minutes"] === undefined)).toEqual([]);
		const writes = Object.entries(jobs).filter(([, job]) => Object.values(job.permissions ?? {}).includes("write"));
		expect(writes.map(([name]) => name)).toEqual(path.endsWith("release.yml") ? ["publish"] : []);
		expect(on).not.toHaveProperty("pull_request_target");
		const checkouts = steps.filter(({ uses = "" }) => uses.startsWith("actions/checkout@"));
		expect(checkouts.filter((step) => step.with?.["persist-credentials"] !== false)).toEqual([]);
		const isForForks = "pull_request" in on;
		expect(isForForks && /secrets\.|github\.token/.test(readSource(path))).toBe(false);
	});
});

test("a release tries the plugin of every platform before it publishes", () => {
	const tried = release.jobs["try"]?.strategy?.matrix.include.map(({ target }) => target);
	expect(tried?.toSorted()).toEqual(targets.map(({ os, arch }) => `${os}_${arch}`).toSorted());
	expect(release.jobs["publish"]?.needs).toEqual(["test", "package", "image", "try"]);
});
