// Counts the requests that the API servers have answered, from their metrics.
import type { ApiClient } from "../../demo/machine/api-client.ts";

/** By verb and resource, such as "GET leases", over all clusters. Open watches are not counted. */
export type RequestCounts = ReadonlyMap<string, number>;

const line = /^apiserver_request_total\{(.*)\} (\S+)$/;
const label = /(\w+)="([^"]*)"/g;

export async function requestCountsOf(clients: readonly ApiClient[]): Promise<RequestCounts> {
	const counts = new Map<string, number>();
	for (const { labels, value } of (await Promise.all(clients.map(answeredBy))).flat()) {
		const { verb, resource, subresource } = labels;
		if (!resource) continue;
		const what = `${verb} ${resource}${subresource ? `/${subresource}` : ""}`;
		counts.set(what, (counts.get(what) ?? 0) + value);
	}
	return counts;
}

/** How often all pods of the cluster were listed since the API server's start, by anyone, page by page. */
export async function listsOfAllPods(client: ApiClient): Promise<number> {
	return (await answeredBy(client))
		.filter(({ labels: { verb, resource, scope } }) => verb === "LIST" && resource === "pods" && scope === "cluster")
		.reduce((sum, { value }) => sum + value, 0);
}

interface Answered {
	readonly labels: Readonly<Record<string, string>>;
	readonly value: number;
}

async function answeredBy(client: ApiClient): Promise<readonly Answered[]> {
	const metrics = await client.get<string>("/metrics");
	return metrics
		.split("\n")
		.flatMap((each) => [line.exec(each) ?? []])
		.filter(([all]) => all !== undefined)
		.map(([, labels = "", value = ""]) => ({
			labels: Object.fromEntries([...labels.matchAll(label)].map(([, name = "", found = ""]) => [name, found])),
			value: Number(value),
		}));
}
