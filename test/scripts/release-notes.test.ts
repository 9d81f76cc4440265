import { describe, expect, test } from "vitest";
import { releaseNotes } from "../../scripts/release/release-notes.ts";

const changelog = "# Changelog\n\n## [0.2.0] - 2026-11-23\n\n### Added\n\n- A.\n\n## [0.1.0] - 2026-01-01\n\n- B.\n";
const release = { version: "0.2.0", tag: "v0.2.0", changelog };

describe("releaseNotes()", () => {
	test("is the version's own section", () => {
		expect(releaseNotes(release)).toBe("### Added\n\n- A.\n");
		expect(releaseNotes({ ...release, version: "0.1.0", tag: "v0.1.0" })).toBe("- B.\n");
	});

	test.each([
		["a tag of another version", { tag: "v0.2.1" }, "The tag is v0.2.1, and package.json says 0.2.0"],
		["no section", { version: "0.3.0", tag: "v0.3.0" }, "CHANGELOG.md says nothing of 0.3.0"],
		[
			"no day",
			{ changelog: "## [0.2.0] - not yet\n\n- A.\n" },
			'CHANGELOG.md has no day for 0.2.0: "## [0.2.0] - not yet"',
		],
		[
			"an empty section",
			{ changelog: "## [0.2.0] - 2026-11-23\n\n## [0.1.0] - x\n" },
			"CHANGELOG.md says nothing of 0.2.0",
		],
	])("refuses %s", (_name, changed, message) => {
		expect(() => releaseNotes({ ...release, ...changed })).toThrow(message);
	});
});
