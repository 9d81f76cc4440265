// Reads how many pods a controller wants, by the rules of the finders in pkg/controller/disruption. Kubernetes' own workload kinds are read
// from the object itself, all other kinds from the scale subresource. A DaemonSet, which those finders leave out, wants as many pods as its
// controller has found nodes.
//
// Guarantee: a controller is `gone` only if the API server answered 404 for this very name, or if no served version of its group has the
// kind. Any other refusal or failure is an error or `unstated`, never a number.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { shorten } from "../../disruption/quote.ts";
import { groupOf } from "../../disruption/lease/remembered-controllers.ts";
import type { ApiAsker, AskOptions } from "../kubernetes/api-asker.ts";
import type { ApiAnswer } from "../kubernetes/api-connection.ts";
import { isMissingObject, saidText, statusMessage } from "../kubernetes/api-refusal.ts";
import { type DiscoveredKind, type Discovery, SilentGroupError, serverErrors } from "../kubernetes/discovery.ts";
import { objectMeta } from "../kubernetes/kubernetes-objects.ts";
import type { ControllerName } from "./cluster-api.ts";
import type { ScaleAnswer } from "./scale-answer.ts";
import { findWorkloadKind } from "./workload-record.ts";
import { replicasOf, workloadScale } from "./workload-scale.ts";

/** The form of names, kinds and versions in the API server's paths. */
const pathSegment = /^[A-Za-z0-9]([-A-Za-z0-9.]{0,251}[A-Za-z0-9])?$/;

export async function getScale(
	controller: ControllerName,
	namespace: string,
	{ asker, discovery }: { readonly asker: ApiAsker; readonly discovery: Discovery },
): Promise<ScaleAnswer> {
	const { cluster } = asker.connection;
	const unreadable = (why: string): AgentUnavailableError =>
		new AgentUnavailableError(`cannot ${whatOf(controller, namespace)} in cluster "${cluster}": ${why}`, cluster);
	// These parts come from pods and Leases, and must not change the request's path.
	if (
		![...controller.apiVersion.split("/"), controller.kind, controller.name].every((part) => pathSegment.test(part))
	) {
		throw unreadable("the reference to it cannot be the one of an object");
	}
	const workload = findWorkloadKind(controller);
	if (workload) return ofWorkload(controller, workload, namespace, asker);
	const kind = await discovery.find(controller.apiVersion, controller.kind).catch((error: unknown) => {
		if (error instanceof SilentGroupError) return error;
		throw error;
	});
	if (kind instanceof SilentGroupError) {
		const why = `its API ${kind.apiVersion} does not answer (${kind.said})`;
		return { kind: "unstated", why, passes: true };
	}
	// When a kind is uninstalled, its objects are deleted.
	if (!kind) return { kind: "gone" };
	return kind.hasScale ? ofScale({ controller, kind, namespace, asker, discovery }) : { kind: "withoutScale" };
}

async function ofWorkload(
	controller: ControllerName,
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
	return asker.read(question, () => workloadScale(controller.kind, answer.body));
}

async function ofScale(options: {
	readonly controller: ControllerName;
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
	const answer = await asker.ask(question, 404, ...serverErrors);
	if (answer.status >= 500) return unstated(answer);
	if (isMissingObject(answer, controller.name)) return { kind: "gone" };
	if (answer.status === 404) {
		discovery.forget(controller.apiVersion);
		throw asker.refusal(answer, question);
	}
	return asker.read(question, () => {
		const { uid } = objectMeta(answer.body);
		// A Scale leaves replicas out if it is 0.
		return { kind: "replicas", replicas: replicasOf(answer.body) ?? 0, uid };
	});
}

/** An API server answers 500 if the field that a custom resource names for its replicas is not set. */
function unstated(answer: ApiAnswer): ScaleAnswer {
	const [, field] = /the spec replicas field "(.+?)" does not exist/.exec(statusMessage(answer)) ?? [];
	return field === undefined
		? { kind: "unstated", why: `its scale cannot be read (${saidText(answer)})`, passes: true }
		: { kind: "unstated", why: `its ${shorten(field)} is not set`, passes: false };
}

function whatOf(controller: ControllerName, namespace: string): string {
	return `read how many pods ${shorten(controller.kind)} "${namespace}/${shorten(controller.name)}" wants`;
}
