import { describe, expect, test } from "vitest";
import type { FoundCluster } from "../../../plugin/install/found-cluster.ts";
import { planFleet } from "../../../plugin/install/planned-fleet.ts";
import type { Team } from "../../../plugin/install/team.ts";
import { newContext } from "../../support/build-context.ts";
import { newFoundCluster } from "../../support/build-found-cluster.ts";
import { newSettingsChoice } from "../../support/settings-choice.ts";

const found = (name: string, changes: Partial<FoundCluster> = {}): FoundCluster =>
	newFoundCluster(newContext(name), changes);

function plan(clusters: readonly FoundCluster[], teams: readonly Team[] = []) {
	const expose = { kinds: [], classes: [], annotations: [], sources: [] };
	const options = {
		image: "agent:1",
		agentSettings: newSettingsChoice(),
		addresses: new Map<string, string>(),
		expose,
	};
	return planFleet(clusters, { ...options, operators: { groups: [], teams } });
}

/** Returns, for each cluster, its teams and the namespaces in which they may acquire budgets, for example "team-shop in shop". */
function rights(planned: ReturnType<typeof plan>): readonly (readonly string[])[] {
	return planned.clusters.map(({ objects }) =>
		objects
			.filter(({ kind, metadata }) => kind === "RoleBinding" && metadata.name.startsWith("xpdb-acquire-"))
			.map(({ metadata }) => `${metadata.name.slice("xpdb-acquire-".length)} in ${metadata.namespace}`),
	);
}

const shop: Team = { account: "team-shop", groups: ["shop"], namespaces: ["shop"] };
const web: Team = { account: "team-web", groups: ["web"], namespaces: ["web"] };

describe("planFleet(), teams", () => {
	test("leaves teams as they are in each cluster where flags do not name them, and gives them to one that joins", () => {
		const clusters = [found("eu", { image: "agent:1", teams: [shop] }), found("us", { image: "agent:1" }), found("ap")];
		const planned = plan(clusters);
		expect(rights(planned)).toEqual([["team-shop in shop"], [], ["team-shop in shop"]]);
		expect(planned.keptRights).toEqual([]);
	});

	test("has a team that is named in every cluster, and takes nothing away from it", () => {
		const planned = plan(
			[found("eu", { image: "agent:1", teams: [shop, web] }), found("us", { image: "agent:1" })],
			[{ ...shop, namespaces: ["test"] }],
		);
		expect(rights(planned)).toEqual([["team-shop in test", "team-web in web"], ["team-shop in test"]]);
		expect(planned.keptRights).toEqual([
			expect.objectContaining({
				context: expect.objectContaining({ name: "eu" }),
				account: "team-shop",
				namespace: "shop",
			}),
		]);
	});

	test("gives nobody the agents' namespace", () => {
		expect(() => plan([found("eu")], [{ ...shop, namespaces: ["shop", "xpdb-system"] }])).toThrow(
			"--operators gives account team-shop namespace xpdb-system, which is reserved for the agents",
		);
	});
});
