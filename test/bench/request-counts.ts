// Counts the requests that the API servers have answered, from their metrics.
import type { ApiClient } from "../../demo/machine/api-client.ts";

/** By verb and resource, such as "GET leases", over all clusters. Open watches are not counted. */
export type RequestCounts = ReadonlyMap<string, number>;

const line = /^apiserver_request_total\{(.*)\} (\S+)$/;
const label = /(\w+)="([^"]*)"/g;

export async function requestCountsOf(clients: readonly ApiClient[]): Promise<RequestCounts> {
	const counts = new Map<string, number>();
	for (const text of await Promise.all(clients.map((client) => client.get<string>("/metrics")))) {
		for (const [, labels = "", value = ""] of text.split("\n").flatMap((each) => [line.exec(each) ?? []])) {
			const { verb, resource, subresource } = Object.fromEntries(
				[...labels.matchAll(label)].map(([, name = "", found = ""]) => [name, found]),
			);
			if (!resource) continue;
			const what = `${verb} ${resource}${subresource ? `/${subresource}` : ""}`;
			counts.set(what, (counts.get(what) ?? 0) + Number(value));
		}
	}
	return counts;
}

/** How often all pods of the cluster were listed since the API server's start, by anyone, page by page. */
export async function listsOfAllPods(client: ApiClient): Promise<number> {
	const metrics = await client.get<string>("/metrics");
	const lines = metrics.split("\n").flatMap((each) => [line.exec(each) ?? []]);
	const ofPods = lines.filter(([, labels = ""]) =>
		/(?=.*verb="LIST")(?=.*resource="pods")(?=.*scope="cluster")/.test(labels),
	);
	return ofPods.reduce((sum, [, , value]) => sum + Number(value), 0);
}
