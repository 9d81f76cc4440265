// Finds Leases that are held by a round, or have granted pods that are not known to be gone. Without these Leases, the pods could still be
// evicted, but no count would treat them as down.
import type { V1Lease } from "@kubernetes/client-node";
import { agentName, managedByLabel } from "../../disruption/agent-names.ts";
import { GarbledLeaseError } from "../../disruption/errors.ts";
import { budgetAnnotation, namespaceLabel, parseLease } from "../../disruption/lease/lease.ts";
import { isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { installStep } from "./install-step.ts";

/** Returns one line for each such Lease, and for each Lease that cannot be read, because it may be in use. */
export async function leasesInUse(context: KubeContext, leaseNamespace: string): Promise<readonly string[]> {
	const path = `/apis/coordination.k8s.io/v1/namespaces/${leaseNamespace}/leases`;
	const listed = context.client
		.list<V1Lease>(path, { labelSelector: `${managedByLabel}=${agentName},${namespaceLabel}` })
		.catch((error: unknown) => {
			if (isNotFound(error)) return [];
			throw error;
		});
	const leases = await installStep(context, "list the agents' Leases", listed);
	return leases.flatMap((lease) => useOf(context.name, lease));
}

function useOf(context: string, { metadata, spec }: V1Lease): readonly string[] {
	const { name = "", uid = "", resourceVersion = "", labels = {}, annotations = {} } = metadata ?? {};
	const { holderIdentity = "", leaseDurationSeconds = 1, leaseTransitions = 0 } = spec ?? {};
	try {
		const { holder, state } = parseLease({
			name,
			uid,
			resourceVersion,
			labels,
			annotations,
			spec: { holderIdentity, leaseDurationSeconds, leaseTransitions },
		});
		const budget = annotations[budgetAnnotation] ?? name;
		const pods = state.reservations.length;
		if (holder === "" && pods === 0) return [];
		const held = holder === "" ? [] : [`held by ${holder}`];
		const granted = pods === 0 ? [] : [`${pods} granted pods that are not gone yet`];
		return [`${context}: budget ${budget}: ${[...held, ...granted].join(", ")}`];
	} catch (error) {
		if (error instanceof GarbledLeaseError) return [`${context}: Lease ${name} cannot be read`];
		throw error;
	}
}
