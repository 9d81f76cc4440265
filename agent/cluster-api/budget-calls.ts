// Reads and lists XPodDisruptionBudgets from the API server.
import { budgetApi } from "../../disruption/budget/budget.ts";
import type { ApiAsker, AskOptions } from "../kubernetes/api-asker.ts";
import { isMissingObject } from "../kubernetes/api-refusal.ts";
import { listPage, metadataList, objectMeta, withItems } from "../kubernetes/kubernetes-objects.ts";
import type { ListedResource } from "../kubernetes/paged-list.ts";
import type { ClusterApi } from "./cluster-api.ts";
import { readBudget } from "./read-budget.ts";
import type { ListedVersions } from "./workload-calls.ts";

const { group, version, resource } = budgetApi;
const budgetsIn = (namespace: string | undefined): string =>
	`/apis/${group}/${version}/${namespace === undefined ? "" : `namespaces/${namespace}/`}${resource}`;

export const allBudgets: ListedResource = {
	name: "budgets",
	path: budgetsIn(undefined),
	resource,
	group,
};

export async function listBudgetVersions(asker: ApiAsker): Promise<ListedVersions> {
	const { versions } = asker.connection;
	const mark = versions.mark(allBudgets.name);
	const options: AskOptions = {
		method: "GET",
		path: allBudgets.path,
		accept: metadataList,
		what: "list the names of XPodDisruptionBudgets",
		verb: "list",
		resource: allBudgets.resource,
		group,
	};
	const answer = await asker.ask(options);
	return asker.read(options, () => {
		const { items, resourceVersion } = listPage(withItems(answer.body));
		versions.answered(mark, resourceVersion);
		const listed = items.map((item) => {
			const { name } = readBudget(item);
			return [`${name.namespace}/${name.name}`, objectMeta(item).resourceVersion] as const;
		});
		return { versions: new Map(listed), resourceVersion };
	});
}

export function createBudgetCalls(asker: ApiAsker): Pick<ClusterApi, "getBudget" | "listBudgets"> {
	const { versions } = asker.connection;
	return {
		async getBudget({ namespace, name }) {
			const options: AskOptions = {
				method: "GET",
				path: `${budgetsIn(namespace)}/${name}`,
				what: `read XPodDisruptionBudget "${namespace}/${name}"`,
				verb: "get",
				resource,
				group,
				namespace,
			};
			const answer = await asker.ask(options, 404);
			if (isMissingObject(answer, name)) return undefined;
			if (answer.status === 404) throw asker.refusal(answer, options);
			return asker.read(options, () => {
				const found = readBudget(answer.body);
				if (found.name.name === name && found.name.namespace === namespace) return found;
				throw new TypeError("it is another budget");
			});
		},
		async listBudgets(namespace) {
			const mark = versions.mark("budgets");
			const options: AskOptions = {
				method: "GET",
				path: budgetsIn(namespace),
				what: "list XPodDisruptionBudgets",
				verb: "list",
				resource,
				group,
				...(namespace !== undefined && { namespace }),
			};
			const answer = await asker.ask(options);
			const { items, resourceVersion } = asker.read(options, () => listPage(answer.body));
			versions.answered(mark, resourceVersion);
			return asker.read(options, () => items.map(readBudget));
		},
	};
}
