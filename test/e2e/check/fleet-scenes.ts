// Scenes of clusters that do not form one fleet (codes 1001, 1103, 1401, 2203), and of members without a context, an address or a
// connection (1301, 1402 to 1404).
import { parse } from "yaml";
import { fleetControl } from "../agents.ts";
import { editFleetLists, type FleetLists } from "../fleet-list.ts";
import { getJson } from "../get-json.ts";
import { kubectl } from "../kubectl.ts";
import type { Provocation, Scene } from "./provocation.ts";
import { besideBudgets, everywhere, operators } from "./run-check.ts";

const nothing = async (): Promise<void> => undefined;
const list = (context: string): string =>
	`kubectl get configmap xpdb-fleet -n xpdb-system -o yaml --context ${context}`;

let lists: FleetLists | undefined;

const unresolved: Provocation = {
	reason: "MemberUnresolved",
	fault: "a list that leaves out a member",
	cluster: "c1-operator",
	async provoke() {
		lists = await editFleetLists();
		await lists.declare("c1", { members: ["c1", "c2"] });
	},
	says: /^knows "c3" \(id \S+\) as a member, and its xpdb-fleet neither lists nor forgets it: list it again /,
	fix: list("c1-operator"),
	async end() {
		await lists?.[Symbol.asyncDispose]();
	},
};

const differ = operators.map(
	(cluster): Provocation => ({
		reason: "FleetsDiffer",
		fault: "the lists of others, which have it",
		cluster,
		provoke: nothing,
		says: cluster === "c1-operator" ? "declares the fleet c1, c2" : "declares the fleet c1, c2, c3",
		fix: list(cluster),
		end: nothing,
	}),
);

const uncounted: Provocation = {
	reason: "NotChecked",
	fault: "lists that differ, so that nobody counts a budget",
	cluster: "c1-operator",
	provoke: nothing,
	says: "the clusters are not one fleet",
	end: nothing,
};

interface Declared {
	readonly data: { readonly members: string };
}

let members: string | undefined;

async function declareMembers(text: string): Promise<void> {
	const patch = JSON.stringify({ data: { members: text } });
	await kubectl("c1", ["patch", "configmap", "xpdb-fleet", "-n", "xpdb-system", "--type=merge", "-p", patch]);
}

export const addressless: Provocation = {
	reason: "MemberWithoutAddress",
	fault: "a list without the address of a member",
	cluster: "c3-operator",
	async provoke() {
		const path = "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet";
		members = (await getJson<Declared>("c1", path)).data.members;
		const entries = parse(members) as readonly { readonly name: string; readonly address: string }[];
		await declareMembers(
			JSON.stringify(entries.map(({ address, ...rest }) => (rest.name === "c3" ? rest : { ...rest, address }))),
		);
	},
	says: "xpdb-fleet has no address for member c3: other members' agents cannot reach it, and every run needs a context of it",
	async end() {
		if (members !== undefined) await declareMembers(members);
	},
};

const cutLinks = ["c1->c3", "c2->c3"];

async function setLinks(cut: boolean): Promise<void> {
	for (const link of cutLinks) {
		await fleetControl().setLink(link, cut ? { cut } : {});
		await fleetControl().resetLink(link);
	}
}

const unreached: Provocation = {
	reason: "PeerUnreachable",
	fault: "a member behind no context, whose links to the others are cut",
	cluster: "c3",
	provoke: () => setLinks(true),
	says: "no context leads to member c3, and no other member's agents reach it: ",
	fix: "kubectl config get-contexts",
	end: () => setLinks(false),
};

const membersApart = operators.slice(0, 2).map(
	(cluster): Provocation => ({
		reason: "MembersApart",
		fault: "a cut link between the agents of two clusters",
		cluster,
		provoke: nothing,
		says: "its agents do not reach member c3: ",
		fix: `kubectl get services -n xpdb-system -o wide --context ${cluster}`,
		end: nothing,
	}),
);

const same: Provocation = {
	reason: "SameCluster",
	fault: "two contexts of one cluster",
	cluster: "c1",
	provoke: nothing,
	says: 'contexts "c1-operator" and "c1" lead to the same cluster, whose pods would count twice',
	fix: "kubectl config get-contexts",
	end: nothing,
};

const contextless = ["c2", "c3"].map(
	(cluster): Provocation => ({
		reason: "MemberWithoutContext",
		fault: "a member that no context leads to",
		cluster,
		provoke: nothing,
		says: `no context leads to member ${cluster}: what only its API server can say is not checked, and its nodes cannot be drained`,
		fix: "kubectl config get-contexts",
		end: nothing,
	}),
);

export const fleetScenes: readonly Scene[] = [
	{
		name: "a list that leaves out a member",
		args: [...everywhere, ...besideBudgets],
		rows: [unresolved, ...differ, uncounted],
		besides: ["MembersApart"],
	},
	{
		name: "a member that nobody reaches",
		args: ["--contexts", operators.slice(0, 2).join(","), ...besideBudgets],
		rows: [unreached, ...membersApart],
		besides: ["NotChecked"],
		after: [...everywhere, ...besideBudgets],
	},
	{
		name: "contexts that lead to one cluster, and to others none",
		args: ["--contexts", "c1-operator,c1", ...besideBudgets],
		rows: [same, ...contextless],
		besides: ["NotChecked"],
		after: [...everywhere, ...besideBudgets],
	},
];
