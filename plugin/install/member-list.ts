// Reads and changes ConfigMap `xpdb-fleet` of one cluster. A write succeeds only if the ConfigMap still has the version that was read.
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
		/** The labels of an installation, which the object keeps. */
		readonly labels: Readonly<Record<string, string>>;
	};
}

/** Limits the wait for a frozen API server. Normal answers take milliseconds. */
const answerWithinMs = 10_000;
/** Each conflict means that another client wrote the object between our read and our write. */
const maxConflicts = 5;

/** Rejects with ApiError or ConnectionError, with a TimeoutError after `answerWithinMs`, or with UsageError for an invalid list. */
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

export function hasForgotten({ fleet }: Pick<MemberList, "fleet">, id: string): boolean {
	return fleet.forgotten.some((each) => each.id === id) && !fleet.members.some((each) => each.id === id);
}

/**
 * Removes the member from the list and adds it to the forgotten members, in one write. With `rehearse`, the API server only checks the
 * write. Rejects as readMemberList() does.
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

/** Uses an installation's field manager, so that the next installation recognises its own fields. */
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
			// The uid makes the write fail if the object was deleted and created anew.
			metadata: { name: defaultFleetConfigMap, namespace: agents.namespace, uid, resourceVersion, labels },
			data: { members: text(without(fleet.members)), forgotten: text([...without(fleet.forgotten), member]) },
		},
		{ signal: AbortSignal.timeout(answerWithinMs) },
	);
}

function pathOf(namespace: string): string {
	return `/api/v1/namespaces/${namespace}/configmaps/${defaultFleetConfigMap}`;
}
