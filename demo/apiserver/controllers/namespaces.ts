// Runs namespaces: creates the service account "default" in each, and empties and removes deleted namespaces.
import { keyOf } from "../api-object.ts";
import { type ControllerHost, controllerName } from "./controller.ts";

export function runNamespaceController(host: ControllerHost): void {
	const { store } = host.core;
	const client = host.as(controllerName("namespace-controller"));

	host.reconcile({
		resources: ["namespaces"],
		keysOf: ({ type, object }) => (type === "DELETED" ? [] : [keyOf(object)]),
		look(key) {
			const namespace = store.find("namespaces", key);
			if (!namespace) return;
			const { name, deletionTimestamp } = namespace.metadata;
			if (deletionTimestamp !== undefined) empty(name);
			else if (!store.find("serviceaccounts", `${name}/default`)) {
				client.create("serviceaccounts", name, { metadata: { name: "default" } });
			}
		},
	});

	function contentsOf(name: string) {
		return host.core.types
			.filter(({ namespaced }) => namespaced)
			.flatMap(({ key }) => store.list(key).map((object) => ({ key, object })))
			.filter(({ object }) => object.metadata.namespace === name);
	}

	function empty(name: string): void {
		for (const { key, object } of contentsOf(name)) {
			if (object.metadata.deletionTimestamp === undefined) client.remove(key, object);
		}
		finish(name);
	}

	function finish(name: string): void {
		const namespace = store.find("namespaces", `/${name}`);
		if (namespace?.metadata.deletionTimestamp === undefined || contentsOf(name).length > 0) return;
		store.remove("namespaces", namespace);
	}

	// Each deleted object may have been the last in its namespace.
	host.reconcile({
		resources: host.core.types.filter(({ namespaced }) => namespaced).map(({ key }) => key),
		keysOf: ({ type, object }) => (type === "DELETED" ? [object.metadata.namespace ?? ""] : []),
		look: finish,
	});
}
