// Makes a team's objects: the shipped example (agent/team/team.yaml) with the team's names. Pure.
import { isRecord } from "../../disruption/record.ts";
import type { ClusterObject } from "./cluster-object.ts";
import { teamManifests } from "./deploy-manifests.ts";
import type { Team } from "./team.ts";

/** The label of each object of a team. Its value is the account's name. */
export const accountLabel = "xpdb.form3.tech/account";

/** The name of the RoleBinding of a team's groups, in the agents' namespace and in each of the team's namespaces. */
export function peopleBinding(account: string): string {
	return `xpdb-account-${account}`;
}

const example = { account: "team-shop", namespace: "shop" } as const;

export function teamObjects(agentNamespace: string, team: Team): readonly ClusterObject[] {
	return teamManifests(agentNamespace).flatMap((manifest) => {
		const object = withGroups(renamed(manifest, team.account), team.groups);
		if (object.metadata.namespace !== example.namespace) return [object];
		return team.namespaces.map((namespace) => ({ ...object, metadata: { ...object.metadata, namespace } }));
	});
}

function renamed<T>(value: T, account: string): T;
function renamed(value: unknown, account: string): unknown {
	if (typeof value === "string") return value.replaceAll(example.account, account);
	if (Array.isArray(value)) return value.map((each: unknown) => renamed(each, account));
	if (!isRecord(value)) return value;
	return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, renamed(each, account)]));
}

function withGroups(object: ClusterObject, groups: readonly string[]): ClusterObject {
	const subjects = object["subjects"];
	if (!Array.isArray(subjects)) return object;
	const filled = subjects.flatMap((subject: unknown) =>
		isRecord(subject) && subject["kind"] === "Group" ? groups.map((name) => ({ ...subject, name })) : [subject],
	);
	return { ...object, subjects: filled };
}
