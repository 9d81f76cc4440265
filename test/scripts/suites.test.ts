import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { chooseSuites } from "../../scripts/suites/choose-suites.ts";
import { clusterSuites, commandSuites, hasFile, longFiles, suiteOf } from "../../scripts/suites/suites.ts";
import { listFiles } from "../architecture/source-files.ts";

const testFiles = listFiles("test").filter((path) => path.endsWith(".e2e.test.ts"));

describe("suites on real clusters", () => {
	test("have each test file once, and no other", () => {
		expect(testFiles.length).toBeGreaterThan(60);
		const claims = (path: string) => clusterSuites.filter((suite) => hasFile(suite, path));
		expect(testFiles.filter((path) => claims(path).length !== 1)).toEqual([]);
		const named = clusterSuites.flatMap(({ files }) => files);
		expect(named.filter((path) => !existsSync(path))).toEqual([]);
		expect(suiteOf("test/e2e/faults/clocks.e2e.test.ts")?.name).toBe("faults");
		expect(longFiles.filter((path) => !testFiles.includes(path))).toEqual([]);
	});
});

describe("chooseSuites()", () => {
	const namesOf = ({ clusters, commands }: ReturnType<typeof chooseSuites>) =>
		[...commands, ...clusters].map(({ name }) => name);

	test("has the suites of a size and of the smaller ones, and says where the others are", () => {
		const [quick, all, nightly] = (["quick", "all", "nightly"] as const).map((size) =>
			chooseSuites({ size, only: [] }),
		);
		expect(namesOf(quick!)).toEqual(expect.arrayContaining(["check", "evictions"]));
		expect(quick!.leftOut).toContain("faults (npm test -- --all has it)");
		expect(namesOf(all!)).toEqual(expect.arrayContaining([...namesOf(quick!), "faults", "hostile", "parity", "soak"]));
		expect(all!.leftOut).toContain("packages (npm test -- --nightly has it)");
		expect(namesOf(nightly!)).toEqual([...commandSuites, ...clusterSuites].map(({ name }) => name));
		expect(nightly!.leftOut).toEqual([]);
	});

	test("asks for no programs that only other suites need", () => {
		expect(chooseSuites({ size: "quick", only: [] }).programs).toEqual([]);
		expect(chooseSuites({ size: "all", only: [] }).programs.toSorted()).toEqual(["helm", "krew", "oldest"]);
		expect(chooseSuites({ size: "nightly", only: [] }).programs).toContain("flux");
	});

	test("has those that are named, alone", () => {
		const choice = chooseSuites({ size: "quick", only: ["faults", "check"] });
		expect(namesOf(choice)).toEqual(["check", "faults"]);
		expect(choice.leftOut).toEqual([]);
		expect(() => chooseSuites({ size: "quick", only: ["fault"] })).toThrow(
			/no suite is called "fault"\. There are "check"/,
		);
	});
});
