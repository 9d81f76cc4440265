// Changes the list of members in a cluster's ConfigMap.
import { parse } from "yaml";
import { getJson } from "../get-json.ts";
import { kubectl } from "../kubectl.ts";

interface Member {
	readonly id: string;
	readonly name: string;
	readonly address: string;
}

/** Adds a function to `cleanups` that restores the list. */
export async function declareFleet(
	cleanups: (() => Promise<void>)[],
	context: string,
	change: (members: readonly Member[]) => { readonly members: readonly Member[]; readonly forgotten?: object[] },
): Promise<void> {
	const path = "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet";
	const { data } = await getJson<{ readonly data: { readonly members: string } }>(context, path);
	const write = (keys: Readonly<Record<string, string | null>>) =>
		kubectl(context, ["-n", "xpdb-system", "patch", "configmap", "xpdb-fleet", "-p", JSON.stringify({ data: keys })]);
	const { members, forgotten = [] } = change(parse(data.members) as Member[]);
	await write({ members: JSON.stringify(members), forgotten: JSON.stringify(forgotten) });
	cleanups.push(async () => void (await write({ forgotten: null, ...data })));
}
