// Answers the shipped code's requests for kinds and scales by path. Groups other than `apps` can be added and removed, with their versions
// and scales.
import type { ApiAnswer } from "../../agent/kubernetes/api-connection.ts";
import type { ServedKind, SimulatedApiServer, SimulatedController } from "./simulated-api-server.ts";

const appsKinds: ReadonlyMap<string, string> = new Map([
	["statefulsets", "StatefulSet"],
	["replicasets", "ReplicaSet"],
	["deployments", "Deployment"],
]);

const objectPath = /^\/apis\/([^/]+)\/([^/]+)\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)(\/scale)?$/;
const versionPath = /^\/apis\/([^/]+)\/([^/]+)$/;
const notServed: ApiAnswer = { status: 404, body: "404 page not found" };

export function answerTo(server: SimulatedApiServer, path: string): ApiAnswer {
	if (path === "/apis") return { status: 200, body: { groups: groupsOf(server) } };
	const [, group = "", version = "", namespace = "", plural = "", name = "", scale] =
		objectPath.exec(path) ?? versionPath.exec(path) ?? [];
	const served = server.kinds.get(group);
	const isServed = served?.versions.includes(version) ?? false;
	if (plural === "") return served && isServed ? { status: 200, body: { resources: resourcesOf(served) } } : notServed;
	if (group === "apps") return object(server, { group, kind: appsKinds.get(plural) ?? "", namespace, name, plural });
	if (!served || !isServed || served.plural !== plural || !served.hasScale || scale === undefined) return notServed;
	return object(server, { group, kind: served.kind, namespace, name, plural });
}

function groupsOf({ kinds }: SimulatedApiServer) {
	const groups = [...kinds].filter(([, { versions }]) => versions.length > 0);
	return [
		{ name: "apps", versions: [{ version: "v1" }] },
		...groups.map(([name, { versions }]) => ({ name, versions: versions.map((version) => ({ version })) })),
	];
}

function resourcesOf({ kind, plural, hasScale }: ServedKind) {
	const scale = { name: `${plural}/scale`, kind: "Scale", namespaced: true };
	return [{ name: plural, kind, namespaced: true }, ...(hasScale ? [scale] : [])];
}

interface ObjectName {
	readonly group: string;
	readonly kind: string;
	readonly plural: string;
	readonly namespace: string;
	readonly name: string;
}

function object(server: SimulatedApiServer, { group, kind, plural, namespace, name }: ObjectName): ApiAnswer {
	const found = server.controller({ apiVersion: `${group}/any`, kind, name }, namespace);
	if (!found)
		return { status: 404, body: { message: `${plural} "${name}" not found`, details: { name, kind: plural } } };
	return { status: 200, body: bodyOf(found) };
}

function bodyOf({ name, namespace, uid, replicas, ownedBy }: SimulatedController) {
	const ownerReferences = ownedBy && [{ ...ownedBy, controller: true }];
	return {
		metadata: { name, namespace, uid, resourceVersion: "1", ...(ownerReferences && { ownerReferences }) },
		spec: { replicas },
	};
}
