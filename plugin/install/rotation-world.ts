// Gives a rotation read and write access to the clusters of a fleet.
import { setTimeout as delay } from "node:timers/promises";
import { isDomainError } from "../../disruption/errors.ts";
import { StepError } from "../fleet/access-step.ts";
import { userAtHost } from "../fleet/holder-identity.ts";
import { ApiError, ConnectionError, errorText, isForbidden } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { refuseSameCluster } from "../kubernetes/same-cluster.ts";
import { UsageError } from "../terminal/errors.ts";
import { readAgentCertificates } from "./agent-certificates.ts";
import { authorityReference } from "./certificate-objects.ts";
import { objectText } from "./cluster-object.ts";
import { applyObject, removeObject } from "./find-changes.ts";
import { ofInstallation } from "./fleet-objects.ts";
import { installStep } from "./install-step.ts";
import { tellKeyUse } from "./key-use.ts";
import { readMemberList } from "./member-list.ts";
import { type ClusterCertificates, readClusterCertificates } from "./read-certificates.ts";
import type { RotationWorld } from "./rotate-certificates.ts";

const pollMs = 2_000;

export interface OpenedWorld {
	readonly world: RotationWorld;
	/** Members of the fleet that no context leads to. */
	readonly unseen: readonly string[];
}

/**
 * Throws UsageError, with the context's name, for what cannot be read. `ca`: a CA from a file, which the clusters may not have yet.
 * `dryRun`: writes are sent as dry runs.
 */
export async function openRotationWorld(
	contexts: readonly KubeContext[],
	{ ca, signal, dryRun }: { readonly ca: string | undefined; readonly signal: AbortSignal; readonly dryRun: boolean },
): Promise<OpenedWorld> {
	const lists = await Promise.all(
		contexts.map((context) => installStep(context, "read the list of members", readMemberList(context))),
	);
	refuseSameCluster(lists.map(({ context, clusterId }) => [context.name, clusterId]));
	const idOf = new Map(lists.map(({ context, clusterId }) => [context.name, clusterId]));
	const contextOf = (name: string): KubeContext => {
		const context = contexts.find((each) => each.name === name);
		if (!context) throw new Error(`no context "${name}"`);
		return context;
	};
	// The CAs that may have signed the agents' certificates.
	const authorities = new Set(ca === undefined ? [] : [ca]);
	const keep = (found: readonly ClusterCertificates[]): readonly ClusterCertificates[] => {
		for (const { ca: bundle, authority } of found) {
			for (const pem of [bundle, authority?.current.certificate, authority?.next?.certificate]) {
				if (pem !== undefined) authorities.add(pem);
			}
		}
		return found;
	};
	// Why a cluster's agents could not be asked, by context. Agents are asked again until the timeout, because agents restart and API
	// servers may be silent for a moment.
	const silent = new Map<string, string>();
	const world: RotationWorld = {
		read: async () =>
			keep(
				await Promise.all(
					contexts.map((context) =>
						installStep(
							context,
							"read the certificates",
							readClusterCertificates(context, idOf.get(context.name) ?? ""),
						),
					),
				),
			),
		async write(name, object) {
			signal.throwIfAborted();
			const context = contextOf(name);
			for (const ours of ofInstallation([object], context.agents.namespace)) {
				const applied = applyObject(context, ours, { dryRun, force: true });
				await installStep(context, `apply ${objectText(ours)}`, applied);
			}
		},
		async removeAuthority(name) {
			signal.throwIfAborted();
			const context = contextOf(name);
			await removeObject(context, authorityReference(context.agents.namespace), { dryRun });
		},
		async recordUse(use) {
			signal.throwIfAborted();
			const untold = await tellKeyUse(contextOf(use.keeper ?? use.member), use, { by: userAtHost(), at: Date.now() });
			if (untold === undefined) return;
			throw new UsageError(
				`${use.keeper ?? use.member}: cannot write the Event of this use of the CA's key: ${untold}`,
			);
		},
		async agents(name) {
			const context = contextOf(name);
			try {
				const ca = [...authorities].join("\n");
				const seen = await readAgentCertificates(context, { clusterId: idOf.get(name) ?? "", ca });
				silent.delete(name);
				return seen;
			} catch (error) {
				const passes = [ApiError, ConnectionError, StepError].some((kind) => error instanceof kind);
				if (!passes && !isDomainError(error)) throw error;
				if (isForGood(error)) {
					throw new UsageError(`${name}: cannot ask its agents: ${errorText(error)}`);
				}
				silent.set(name, errorText(error));
				return [];
			}
		},
		problem: (name) => silent.get(name),
		async pause() {
			await delay(pollMs, undefined, { signal });
		},
		now: () => performance.now(),
	};
	const listed = new Map(lists.flatMap(({ fleet }) => fleet.members.map(({ id, name }) => [id, name] as const)));
	const seen = new Set(idOf.values());
	return { world, unseen: [...listed].flatMap(([id, name]) => (seen.has(id) ? [] : [name])) };
}

/**
 * Whether the user must first do something, such as get a right, so that asking again does not help. Other refusals may end by themselves: a
 * pod may be gone, or the API server busy.
 */
function isForGood(error: unknown): boolean {
	if (error instanceof StepError) return error.cause === undefined || isForbidden(error.cause);
	return isForbidden(error);
}
