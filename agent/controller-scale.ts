// How many pods a controller wants, by the rules of pkg/controller/disruption's finders: the workload kinds of
// Kubernetes by their own object, anything else by its scale subresource.
import { AgentUnavailableError } from "../disruption/errors.ts";
import type { ControllerReference } from "../disruption/pod.ts";
import { quote, shorten } from "../disruption/quote.ts";
import { isRecord } from "../disruption/record.ts";
import type { ApiAsker, AskOptions } from "./api-asker.ts";
import { isMissingObject } from "./api-refusal.ts";
import type { ScaleAnswer } from "./cluster-api.ts";
import type { DiscoveredKind, Discovery } from "./discovery.ts";
import { controllerOf, objectMeta } from "./kubernetes-objects.ts";

/** By group and kind: found without discovery. */
const workloads: ReadonlyMap<string, { readonly prefix: string; readonly plural: string }> = new Map([
	["apps/ReplicaSet", { prefix: "/apis/apps/v1", plural: "replicasets" }],
	["apps/Deployment", { prefix: "/apis/apps/v1", plural: "deployments" }],
	["apps/StatefulSet", { prefix: "/apis/apps/v1", plural: "statefulsets" }],
	["/ReplicationController", { prefix: "/api/v1", plural: "replicationcontrollers" }],
]);

/** Names, kinds and versions, as the API server has them in its paths. */
const pathSegment = /^[A-Za-z0-9]([-A-Za-z0-9.]{0,251}[A-Za-z0-9])?$/;

export async function getScale(
	controller: ControllerReference,
	namespace: string,
	{ asker, discovery }: { readonly asker: ApiAsker; readonly discovery: Discovery },
): Promise<ScaleAnswer> {
	const { cluster } = asker.connection;
	const unreadable = (why: string): AgentUnavailableError =>
		new AgentUnavailableError(`Cannot ${whatOf(controller, namespace)} in cluster "${cluster}": ${why}`, cluster);
	// They come from pods and Leases: none of them may lead anywhere else.
	if (
		![...controller.apiVersion.split("/"), controller.kind, controller.name].every((part) => pathSegment.test(part))
	) {
		throw unreadable("the reference to it cannot be the one of an object");
	}
	const group = groupOf(controller.apiVersion);
	if (group === "apps" && controller.kind === "DaemonSet") return { kind: "withoutScale" };
	const workload = workloads.get(`${group}/${controller.kind}`);
	if (workload) return ofWorkload(controller, workload, namespace, asker);
	const kind = await discovery.find(controller.apiVersion, controller.kind);
	if (!kind) {
		// Removed, or not discovered yet: as in Kubernetes' own budgets nobody can say, so nobody may evict.
		throw unreadable(`its API server does not serve ${shorten(controller.apiVersion)} ${shorten(controller.kind)}`);
	}
	return kind.hasScale ? ofScale({ controller, kind, namespace, asker, discovery }) : { kind: "withoutScale" };
}

async function ofWorkload(
	controller: ControllerReference,
	{ prefix, plural }: { readonly prefix: string; readonly plural: string },
	namespace: string,
	asker: ApiAsker,
): Promise<ScaleAnswer> {
	const question: AskOptions = {
		method: "GET",
		path: `${prefix}/namespaces/${namespace}/${plural}/${controller.name}`,
		what: whatOf(controller, namespace),
		verb: "get",
		resource: plural,
		group: groupOf(controller.apiVersion),
		namespace,
	};
	const answer = await asker.ask(question, 404);
	if (isMissingObject(answer, controller.name)) return { kind: "gone" };
	if (answer.status === 404) throw asker.refusal(answer, question);
	return asker.read(question, () => {
		if (objectMeta(answer.body).uid !== controller.uid) return { kind: "gone" };
		const owner = controllerOf(answer.body);
		const replicas = replicasOf(answer.body);
		// The API server fills in what was left out: one without replicas is not whole.
		if (replicas === undefined) throw new TypeError("it has no spec.replicas");
		return { kind: "replicas", replicas, ...(owner && { ownedBy: owner }) };
	});
}

async function ofScale(options: {
	readonly controller: ControllerReference;
	readonly kind: DiscoveredKind;
	readonly namespace: string;
	readonly asker: ApiAsker;
	readonly discovery: Discovery;
}): Promise<ScaleAnswer> {
	const { controller, kind, namespace, asker, discovery } = options;
	const where = kind.namespaced ? `/namespaces/${namespace}` : "";
	const question: AskOptions = {
		method: "GET",
		path: `${kind.prefix}${where}/${kind.plural}/${controller.name}/scale`,
		what: whatOf(controller, namespace),
		verb: "get",
		resource: `${kind.plural}/scale`,
		group: groupOf(controller.apiVersion),
		...(kind.namespaced && { namespace }),
	};
	const answer = await asker.ask(question, 404);
	if (isMissingObject(answer, controller.name)) return { kind: "gone" };
	if (answer.status === 404) {
		discovery.forget(controller.apiVersion);
		throw asker.refusal(answer, question);
	}
	return asker.read(question, () => {
		const { uid } = objectMeta(answer.body);
		// A Scale leaves replicas out where it is 0.
		return uid === controller.uid ? { kind: "replicas", replicas: replicasOf(answer.body) ?? 0 } : { kind: "gone" };
	});
}

function replicasOf(object: unknown): number | undefined {
	const spec = isRecord(object) ? object["spec"] : undefined;
	if (!isRecord(spec)) throw new TypeError("its spec is not an object");
	const replicas = spec["replicas"] ?? undefined;
	if (replicas === undefined) return undefined;
	if (typeof replicas !== "number" || !Number.isInteger(replicas) || replicas < 0 || replicas >= 2 ** 31) {
		throw new TypeError(`its spec.replicas is ${quote(replicas)}`);
	}
	return replicas;
}

function whatOf(controller: ControllerReference, namespace: string): string {
	return `read how many pods ${shorten(controller.kind)} "${namespace}/${shorten(controller.name)}" wants`;
}

function groupOf(apiVersion: string): string {
	return apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";
}
