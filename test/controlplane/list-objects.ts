// Lists all objects of a cluster, so that tests can compare them before and after.
import { type ApiClient, isStatus } from "../../demo/machine/api-client.ts";

interface ResourceList {
	readonly groupVersion: string;
	readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

interface ObjectList {
	readonly items: readonly { readonly metadata: { readonly name: string; readonly namespace?: string } }[];
}

/** Left out: Events come and go by themselves, port-forwards belong to the test setup. */
const left = new Set(["events", "portforwards"]);

/** Returns names such as "secrets xpdb-system/xpdb-agent-tls", sorted. */
export async function listObjects(client: ApiClient): Promise<readonly string[]> {
	const { groups } = await client.get<{
		readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
	}>("/apis");
	const versions = ["/api/v1", ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
	const listed = versions.map(async (path) => {
		const { resources } = await orNothing(client.get<ResourceList>(path), { groupVersion: "", resources: [] });
		const listable = resources.filter(({ name, verbs }) => verbs.includes("list") && !left.has(name));
		return Promise.all(
			listable.map(async ({ name: kind }) => {
				const { items } = await orNothing(client.get<ObjectList>(`${path}/${kind}`), { items: [] });
				return items.map(({ metadata: { name, namespace } }) => {
					return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
				});
			}),
		);
	});
	return (await Promise.all(listed)).flat(2).toSorted();
}

/** Returns `nothing` on a 404. A kind that is being removed is still listed for a moment after it stops answering. */
async function orNothing<T>(answer: Promise<T>, nothing: T): Promise<T> {
	try {
		return await answer;
	} catch (error) {
		if (isStatus(error, 404)) return nothing;
		throw error;
	}
}
