// ConfigMap `xpdb-fleet` of one cluster: read by whoever is about to change it, and changed for the version that was read.
import { stringify } from "yaml";
import { defaultFleetConfigMap, managedByLabel } from "../../disruption/agent-names.ts";
import { InvalidFleetError } from "../../disruption/budget/declared-fleet.ts";
import type { DeclaredFleet, ForgottenMember } from "../../disruption/budget/fleet.ts";
import { ApiError } from "../kubernetes/api-error.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import { allInOrder } from "./all-in-order.ts";
import { agentNamespaceLabel } from "./fleet-objects.ts";
import { readFleetList } from "./read-fleet-list.ts";

export interface MemberList {
	readonly context: KubeContext;
	/** The UID of its namespace kube-system. */
	readonly clusterId: string;
	readonly fleet: DeclaredFleet;
	readonly object: {
		readonly uid: string;
		readonly resourceVersion: string;
		/** Those of an installation, which go on being its own. */
		readonly labels: Readonly<Record<string, string>>;
	};
}

/** An API server that is frozen lets everybody wait; these answer in milliseconds. */
const answerWithinMs = 10_000;
/** Somebody else writes the object between our read and our write. */
const maxConflicts = 5;

/** Rejects with ApiError or ConnectionError, with UsageError for a list that nobody can go on with. */
export async function readMemberList(context: KubeContext): Promise<MemberList> {
	const { client, name, agents } = context;
	const options = { signal: AbortSignal.timeout(answerWithinMs), retry: false };
	const [kubeSystem, map] = await allInOrder([
		client.get<{ readonly metadata?: { readonly uid?: string } }>("/api/v1/namespaces/kube-system", options),
		client.get<FleetConfigMap>(pathOf(agents.namespace), options),
	]);
	const clusterId = kubeSystem.metadata?.uid ?? "";
	if (clusterId === "") throw new UsageError(`${name}: namespace kube-system has no UID`);
	const { uid = "", resourceVersion = "", labels = {} } = map.metadata ?? {};
	try {
		const kept = Object.entries(labels).filter(([label]) => [managedByLabel, agentNamespaceLabel].includes(label));
		const object = { uid, resourceVersion, labels: Object.fromEntries(kept) };
		return { context, clusterId, fleet: readFleetList(map.data ?? {}), object };
	} catch (error) {
		if (!(error instanceof InvalidFleetError)) throw error;
		const place = `ConfigMap ${agents.namespace}/${defaultFleetConfigMap}`;
		throw new UsageError(`${name}: ${place} cannot be used: ${error.message}`, "Repair it there first");
	}
}

interface FleetConfigMap {
	readonly metadata?: {
		readonly uid?: string;
		readonly resourceVersion?: string;
		readonly labels?: Readonly<Record<string, string>>;
	};
	readonly data?: Readonly<Record<string, unknown>>;
}

/** Whether it neither lists the member nor lacks it among those that it has forgotten. */
export function hasForgotten({ fleet }: Pick<MemberList, "fleet">, id: string): boolean {
	return fleet.forgotten.some((each) => each.id === id) && !fleet.members.some((each) => each.id === id);
}

/**
 * Takes the member out of the list and names it as forgotten, in one write. `rehearse`: the API server is asked, and nothing is written.
 * Rejects with ApiError or ConnectionError.
 */
export async function forgetInList(
	first: MemberList,
	member: ForgottenMember,
	{ rehearse }: { readonly rehearse: boolean },
): Promise<void> {
	for (let list = first, conflicts = 0; !hasForgotten(list, member.id); conflicts += 1) {
		try {
			await write(list, member, rehearse);
			return;
		} catch (error) {
			const isConflict = error instanceof ApiError && error.code === 409;
			if (!isConflict || conflicts >= maxConflicts) throw error;
			list = await readMemberList(first.context);
		}
	}
}

/** As an installation writes it, so that the next one finds its own fields. */
async function write(
	{ context, fleet, object }: MemberList,
	member: ForgottenMember,
	rehearse: boolean,
): Promise<void> {
	const { client, agents } = context;
	const without = <T extends ForgottenMember>(entries: readonly T[]): readonly T[] =>
		entries.filter(({ id }) => id !== member.id);
	const text = (entries: readonly object[]): string => stringify(entries, { lineWidth: 0 });
	const { uid, resourceVersion, labels } = object;
	const query = `fieldManager=${fieldManager}&force=true${rehearse ? "&dryRun=All" : ""}`;
	await client.apply(
		`${pathOf(agents.namespace)}?${query}`,
		{
			apiVersion: "v1",
			kind: "ConfigMap",
			// Of that very object: one that was made anew meanwhile is another one.
			metadata: { name: defaultFleetConfigMap, namespace: agents.namespace, uid, resourceVersion, labels },
			data: { members: text(without(fleet.members)), forgotten: text([...without(fleet.forgotten), member]) },
		},
		{ signal: AbortSignal.timeout(answerWithinMs) },
	);
}

function pathOf(namespace: string): string {
	return `/api/v1/namespaces/${namespace}/configmaps/${defaultFleetConfigMap}`;
}
