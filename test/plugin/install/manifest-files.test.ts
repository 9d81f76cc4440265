import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeManifests } from "../../../plugin/install/manifest-files.ts";
import type { PlannedCluster } from "../../../plugin/install/planned-fleet.ts";
import { UsageError } from "../../../plugin/terminal/errors.ts";
import { newContext } from "../../support/build-context.ts";
import { newFoundCluster } from "../../support/build-found-cluster.ts";

const cluster: PlannedCluster = {
	found: newFoundCluster(newContext("arn:aws/shop"), {
		id: "id-shop",
		fleet: { members: [], forgotten: [] },
		image: "example.com/agent:1",
	}),
	objects: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "xpdb-system" } }],
	removed: [],
	exposure: undefined,
	settings: {},
	change: {},
};

describe("writeManifests()", () => {
	let home = "";
	beforeEach(() => void (home = mkdtempSync(join(tmpdir(), "xpdb-manifests-"))));
	afterEach(() => rmSync(home, { recursive: true, force: true }));

	test("makes a folder for each cluster in one that need not be there, and writes over what is", () => {
		const folder = join(home, "not", "there");
		const path = join(folder, "arn_aws_shop", "xpdb.yaml");
		for (let times = 0; times < 2; times++) expect(writeManifests([cluster], folder)).toEqual([path]);
		expect(readFileSync(path, "utf8")).toMatch(/^# Member arn:aws\/shop, cluster id-shop\napiVersion: v1\n/);
	});

	test("comes back with a refusal where no folder can be made", () => {
		expect(() => writeManifests([cluster], "/proc/nowhere")).toThrow(UsageError);
		expect(() => writeManifests([cluster], "/proc/nowhere")).toThrow("cannot write to --output-dir: ");
	});
});
