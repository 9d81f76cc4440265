// Reads the declared fleet from the API server.
//
// Guarantee: an agent gets no fleet if it keeps its Leases in another namespace than the fleet declares. Agents of one cluster with two
// sets of Leases would not see each other's reservations. Counts, lists of budgets and descriptions read the fleet first, so such an agent
// answers none of them.
import { fleetKeys, InvalidFleetError } from "../../disruption/budget/declared-fleet.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { DeclaredFleet } from "../../disruption/budget/fleet.ts";
import { isRecord } from "../../disruption/record.ts";
import type { ApiAsker, AskOptions } from "../kubernetes/api-asker.ts";
import { isMissingObject } from "../kubernetes/api-refusal.ts";
import { objectMeta } from "../kubernetes/kubernetes-objects.ts";
import type { ClusterApi } from "./cluster-api.ts";
import { parseFleet } from "./fleet-config.ts";

export function createFleetCalls(
	asker: ApiAsker,
	options: { readonly fleetConfigMap: string; readonly fleetNamespace: string; readonly leaseNamespace: string },
): Pick<ClusterApi, "getFleet"> {
	const { fleetNamespace: namespace, fleetConfigMap: name } = options;
	const { cluster } = asker.connection;
	const question: AskOptions = {
		method: "GET",
		path: `/api/v1/namespaces/${namespace}/configmaps/${name}`,
		what: `read the fleet from ConfigMap "${namespace}/${name}"`,
		verb: "get",
		resource: "configmaps",
		group: "",
		namespace,
	};
	const fail = (why: string, cause?: unknown): AgentUnavailableError =>
		new AgentUnavailableError(`cannot ${question.what} in cluster "${cluster}": ${why}`, cluster, { cause });
	// Every count reads the fleet, so an unchanged text is not parsed again.
	let parsed: { readonly text: string; readonly fleet: DeclaredFleet } | undefined;
	return {
		async getFleet() {
			const answer = await asker.ask(question, 404);
			if (isMissingObject(answer, name))
				throw fail("it does not exist, and no eviction is safe before a fleet is declared");
			if (answer.status === 404) throw asker.refusal(answer, question);
			const { uid, resourceVersion } = asker.read(question, () => objectMeta(answer.body));
			const version = `${uid} ${resourceVersion}`;
			const found = isRecord(answer.body) ? answer.body["data"] : undefined;
			const data = isRecord(found) ? found : {};
			const text = JSON.stringify(fleetKeys.map((key) => data[key]));
			if (parsed?.text === text) return { ...parsed.fleet, version };
			try {
				const fleet = await parseFleet(data);
				const { leaseNamespace = namespace } = fleet;
				if (leaseNamespace !== options.leaseNamespace) throw fail(otherLeases(leaseNamespace, options.leaseNamespace));
				parsed = { text, fleet };
				return { ...fleet, version };
			} catch (error) {
				if (!(error instanceof InvalidFleetError)) throw error;
				throw fail(error.message, error);
			}
		},
	};
}

function otherLeases(declared: string, ours: string): string {
	return (
		`it keeps the Leases of this cluster in namespace "${declared}" (data.leaseNamespace, else its own), and this agent ` +
		`keeps its own in "${ours}" (--lease-namespace): agents that keep two sets of Leases would not see each other's reservations`
	);
}
