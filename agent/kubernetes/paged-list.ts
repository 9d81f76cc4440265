// Lists a collection consistently and page by page, so that 10,000 objects are never in memory as JSON at once. All pages come over one
// session: another API server may have a restored etcd, and continue from the same token with other objects.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { ApiAsker, AskOptions } from "./api-asker.ts";
import { listPage, metadataList, withItems } from "./kubernetes-objects.ts";

export interface ListedResource {
	/** Versions are compared among all lists and watches with this name. */
	readonly name: string;
	readonly path: string;
	readonly labelSelector?: string;
	readonly resource: string;
	readonly group: string;
	readonly namespace?: string;
	readonly metadataOnly?: boolean;
}

/** Measured with 10,000 pods: pages of 250 add 10 MB of memory and pages of 500 add 20 MB, in the same time. */
const pageSize = 250;

export function listPath(resource: ListedResource, query: Readonly<Record<string, string>>): string {
	const { path, labelSelector } = resource;
	const parameters = new URLSearchParams({ ...query, ...(labelSelector !== undefined && { labelSelector }) });
	return `${path}?${parameters.toString()}`;
}

/** `onPage` gets the number of objects that have been read. */
export async function listPaged<T>(
	asker: ApiAsker,
	resource: ListedResource,
	project: (object: unknown) => T,
	onPage?: (objects: number) => void,
): Promise<{ readonly objects: readonly T[]; readonly resourceVersion: string; readonly session: number }> {
	const { connection } = asker;
	const { versions } = connection;
	for (let restarts = 0; ; restarts++) {
		const mark = versions.mark(resource.name);
		const objects: T[] = [];
		const { session } = connection;
		for (let token = ""; ; ) {
			if (token !== "" && connection.session !== session) {
				if (restarts < 1) break;
				const { cluster } = connection;
				const why = "its API server closed the connection between two pages, twice";
				throw new AgentUnavailableError(`cannot list ${resource.resource} in cluster "${cluster}": ${why}`, cluster);
			}
			const query = { limit: String(pageSize), ...(token !== "" && { continue: token }) };
			const options: AskOptions = {
				method: "GET",
				path: listPath(resource, query),
				what: `list ${resource.resource}`,
				verb: "list",
				resource: resource.resource,
				group: resource.group,
				...(resource.namespace !== undefined && { namespace: resource.namespace }),
				...(resource.metadataOnly === true && { accept: metadataList }),
			};
			const answer = await asker.ask(options, 410);
			// The version of these pages was compacted away: only a new list shows one consistent state.
			if (answer.status === 410 && restarts < 1) break;
			if (answer.status === 410) throw asker.refusal(answer, options);
			const page = asker.read(options, () =>
				listPage(resource.metadataOnly === true ? withItems(answer.body) : answer.body),
			);
			for (const item of page.items) objects.push(asker.read(options, () => project(item)));
			onPage?.(objects.length);
			token = page.continueToken;
			if (token !== "") continue;
			versions.answered(mark, page.resourceVersion);
			return { objects, resourceVersion: page.resourceVersion, session };
		}
	}
}
