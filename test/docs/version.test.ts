// Tests that all files name the version of package.json, and the oldest Kubernetes of plugin/install/oldest-kubernetes.ts.
import { expect, test } from "vitest";
import { parse } from "yaml";
import { releaseNotes } from "../../scripts/release/release-notes.ts";
import { oldestMinor } from "../../plugin/install/oldest-kubernetes.ts";
import { listFiles, readSource } from "../architecture/source-files.ts";

const { version } = JSON.parse(readSource("package.json")) as { version: string };

test("manifests and pages name the agent's image in the version of package.json", () => {
	const places = listFiles().filter((path) => /^(agent\/.*\.yaml|docs\/.*\.md|README\.md)$/.test(path));
	const named = places.flatMap((path) =>
		[...readSource(path).matchAll(/xpdb-agent(?::|_v)(\d+\.\d+\.\d+)/g)].map(([, found]) => ({ path, found })),
	);
	expect(named.length).toBeGreaterThan(3);
	expect(named.filter(({ found }) => found !== version)).toEqual([]);
});

test("the chart has the version too, and the agent's image in it", () => {
	const chart = parse(readSource("agent/chart/Chart.yaml")) as Readonly<Record<string, unknown>>;
	expect([chart["version"], chart["appVersion"]]).toEqual([version, version]);
});

test("package-lock.json has the version too", () => {
	const lock = JSON.parse(readSource("package-lock.json")) as {
		version: string;
		packages: Record<string, { version: string }>;
	};
	expect([lock.version, lock.packages[""]?.version]).toEqual([version, version]);
});

test("CHANGELOG.md begins with it", () => {
	const [, first] = /^## \[(.+?)\]/m.exec(readSource("CHANGELOG.md")) ?? [];
	expect(first).toBe(version);
	// A date in the heading makes the section the notes of a release.
	const changelog = readSource("CHANGELOG.md").replace(/(?<=^## \[.*\] - ).*/m, "2026-01-01");
	expect(releaseNotes({ version, tag: `v${version}`, changelog })).toContain("### Added");
});

test("the oldest Kubernetes that the plugin takes is the chart's, and that of the pages and the tests", () => {
	const oldest = `1.${oldestMinor}`;
	expect(parse(readSource("agent/chart/Chart.yaml"))).toMatchObject({ kubeVersion: `>=${oldest}.0-0` });
	expect(readSource("test/controlplane/go/kubernetes-oldest/go.mod")).toContain(`\tk8s.io/kubernetes v${oldest}.`);
	for (const [page, says] of [
		["README.md", `You need Kubernetes ${oldest} or newer`],
		["docs/operations.md", `You need Kubernetes ${oldest} or newer`],
		["docs/releases.md", `supports Kubernetes ${oldest} and newer`],
		["docs/messages.md", `older than Kubernetes ${oldest} `],
		["CHANGELOG.md", `Kubernetes from ${oldest} on`],
	] as const) {
		expect(readSource(page).replaceAll(/\s+/g, " "), page).toContain(says);
	}
});

test("SECURITY.md supports the minor version of package.json, and none before 0.2", () => {
	const rows = [...readSource("SECURITY.md").matchAll(/^\| (\d+\.\d+) \| (yes|no): /gm)];
	const minor = version.split(".").slice(0, 2).join(".");
	expect(rows.filter(([, , answer]) => answer === "yes").map(([, each]) => each)).toEqual([minor]);
	expect(rows.map(([, each]) => each)).toContain("0.1");
});
