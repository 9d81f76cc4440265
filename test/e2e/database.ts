// The workload of most end-to-end tests: a database with replicas in every cluster or in chosen ones, and with at most one budget over all
// of them.
import { randomBytes } from "node:crypto";
import { readTimeline } from "../../demo/audit/audit.ts";
import { type AvailabilitySample, findViolations, replayAvailability } from "../../demo/audit/availability.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import { getJson, podsPath } from "./get-json.ts";
import { apply, eventually } from "./kubectl.ts";
import { removeNamespace } from "./remove-namespace.ts";

interface PodList {
	readonly items: readonly {
		readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
		readonly spec: { readonly nodeName?: string };
		readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
	}[];
}

export interface DatabaseOptions {
	/** Per cluster. */
	readonly replicas: number;
	/** The budget's spec without its selector. By default there is no budget. */
	readonly budget?: Readonly<Record<string, unknown>>;
	/** Annotations of the pods, which control how kwok starts and stops them. */
	readonly annotations?: Readonly<Record<string, string>>;
	readonly contexts?: readonly string[];
}

export interface Pod {
	readonly context: string;
	readonly name: string;
	readonly uid: string;
	readonly node: string;
}

export interface Database extends AsyncDisposable {
	readonly namespace: string;
	/** Returns the healthy pods of all clusters. */
	pods(): Promise<readonly Pod[]>;
	ready(): Promise<void>;
	/** Returns the pods' changes since the database was created, from the audit logs. */
	samples(): Promise<readonly AvailabilitySample[]>;
	violations(maxUnavailable: number): Promise<readonly AvailabilitySample[]>;
}

/** Creates the database in a new namespace and waits until it is ready. */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
	const fleet = sharedFleet();
	const contexts = options.contexts ?? fleet.contexts;
	const namespace = `db-${randomBytes(4).toString("hex")}`;
	const labels = { app: "db" };
	await apply(contexts, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
	await apply(contexts, [
		{
			apiVersion: "apps/v1",
			kind: "StatefulSet",
			metadata: { name: "db", namespace },
			spec: {
				replicas: options.replicas,
				serviceName: "db",
				podManagementPolicy: "Parallel",
				selector: { matchLabels: labels },
				template: {
					// Drains select pods by this label, so that they skip terminating pods of earlier tests.
					metadata: {
						labels: { ...labels, database: namespace },
						...(options.annotations && { annotations: options.annotations }),
					},
					spec: {
						containers: [{ name: "db", image: "example.com/db:1" }],
						topologySpreadConstraints: [
							{
								maxSkew: 1,
								topologyKey: "kubernetes.io/hostname",
								whenUnsatisfiable: "ScheduleAnyway",
								labelSelector: { matchLabels: labels },
							},
						],
					},
				},
			},
		},
	]);
	if (options.budget) await applyBudget(contexts, namespace, options.budget);
	const pods = async (): Promise<readonly Pod[]> => {
		const lists = await Promise.all(
			contexts.map(async (context) => {
				const { items } = await getJson<PodList>(context, podsPath(namespace, { labelSelector: "app=db" }));
				return items
					.filter(({ metadata, status }) => {
						const ready = status.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
						return ready && metadata.deletionTimestamp === undefined;
					})
					.map(({ metadata, spec }) => ({
						context,
						name: metadata.name,
						uid: metadata.uid,
						node: spec.nodeName ?? "",
					}));
			}),
		);
		return lists.flat();
	};
	const expected = options.replicas * contexts.length;
	const ready = () =>
		eventually(`${expected} healthy pods in namespace ${namespace}`, async () => (await pods()).length === expected);
	await ready();
	const samples = async () => {
		const events = await readTimeline(fleet.clusters, { containing: namespace });
		return replayAvailability(events, { namespace, matchLabels: labels, expected });
	};
	return {
		namespace,
		pods,
		ready,
		samples,
		violations: async (maxUnavailable) => findViolations(await samples(), { maxUnavailable }),
		[Symbol.asyncDispose]: async () => {
			await removeNamespace(contexts, namespace);
		},
	};
}

export async function applyBudget(
	contexts: readonly string[],
	namespace: string,
	spec: Readonly<Record<string, unknown>>,
	name = "db",
): Promise<void> {
	await apply(contexts, [
		{
			apiVersion: "x-pdb.form3.tech/v1alpha1",
			kind: "XPodDisruptionBudget",
			metadata: { name, namespace },
			spec: { selector: { matchLabels: { app: "db" } }, ...spec },
		},
	]);
}
