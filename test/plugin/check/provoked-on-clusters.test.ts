import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ownCheckReasons, roundCheckReasons } from "../../../plugin/check/check-reason.ts";
import { repositoryRoot } from "../../../scripts/repository-root.ts";
import { scenes } from "../../e2e/check/scenes.ts";

describe("the suites of check on real clusters", () => {
	test("provoke each reason", () => {
		const provoked = new Set<string>(
			Object.values(scenes)
				.flat()
				.flatMap(({ rows }) => rows.map(({ reason }) => reason)),
		);
		const all = [...Object.keys(ownCheckReasons), ...Object.keys(roundCheckReasons)];
		expect(all.filter((reason) => !provoked.has(reason))).toEqual([]);
	});

	for (const group of Object.keys(scenes)) {
		test(`play ${group}`, () => {
			const path = join(repositoryRoot, "test", "e2e", "check", `${group}.e2e.test.ts`);
			expect(existsSync(path)).toBe(true);
			expect(readFileSync(path, "utf8")).toContain(`describeScenes("${group}"`);
		});
	}
});
