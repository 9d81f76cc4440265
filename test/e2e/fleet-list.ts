// Edits the clusters' lists of members as a user would, one cluster at a time.
import { parse } from "yaml";
import { isRecord } from "../../disruption/record.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import { getJson } from "./get-json.ts";
import { kubectl } from "./kubectl.ts";

export interface FleetList {
	/** The names of clusters. */
	readonly members: readonly string[];
	readonly forgotten?: readonly string[];
}

export interface FleetLists extends AsyncDisposable {
	declare(context: string, list: FleetList): Promise<void>;
	restore(context: string): Promise<void>;
}

const path = "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet";

/** Disposal restores every list. */
export async function editFleetLists(): Promise<FleetLists> {
	const { contexts, clusters } = sharedFleet();
	const before = new Map(
		await Promise.all(
			contexts.map(async (context) => {
				const { data } = await getJson<{ readonly data: Readonly<Record<string, string>> }>(context, path);
				return [context, data["members"] ?? ""] as const;
			}),
		),
	);
	const patch = async (context: string, data: Readonly<Record<string, string | null>>): Promise<void> => {
		const change = JSON.stringify({ data });
		await kubectl(context, ["patch", "configmap", "xpdb-fleet", "-n", "xpdb-system", "--type=merge", "-p", change]);
	};
	const restore = async (context: string): Promise<void> =>
		patch(context, { members: before.get(context) ?? "", forgotten: null });
	return {
		async declare(context, { members, forgotten = [] }) {
			const entries = memberEntries(before.get(context) ?? "");
			const gone = clusters.filter(({ name }) => forgotten.includes(name)).map(({ id, name }) => ({ id, name }));
			await patch(context, {
				members: JSON.stringify(entries.filter(({ name }) => typeof name === "string" && members.includes(name))),
				forgotten: JSON.stringify(gone),
			});
		},
		restore,
		[Symbol.asyncDispose]: async () => {
			await Promise.all(contexts.map(restore));
		},
	};
}

function memberEntries(text: string): readonly Readonly<Record<string, unknown>>[] {
	const entries: unknown = parse(text);
	return Array.isArray(entries) ? entries.filter(isRecord) : [];
}
