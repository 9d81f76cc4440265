// Removes rights and identities while a user works with them.
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../../demo/machine/api-client.ts";
import type { EndFault } from "./faults.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const mergePatch = "application/merge-patch+json";

export async function withdrawOperatorRights(client: ApiClient): Promise<EndFault> {
	const paths = [`${rbac}/clusterroles/xpdb-operators`, `${rbac}/namespaces/xpdb-system/roles/xpdb-operators`];
	const before = await Promise.all(
		paths.map(async (path) => ({ path, rules: (await client.get<{ rules: unknown }>(path)).rules })),
	);
	const patch = async (path: string, rules: unknown) => await client.send("PATCH", path, { rules }, mergePatch);
	for (const path of paths) await patch(path, []);
	return async () => {
		for (const { path, rules } of before) await patch(path, rules);
	};
}

/**
 * Deletes the account whose tokens operators send to the agents, which invalidates these tokens.
 * Resolves when the API server refuses them: it caches valid tokens for ten seconds.
 */
export async function deleteOperatorAccount(client: ApiClient): Promise<EndFault> {
	const collection = "/api/v1/namespaces/xpdb-system/serviceaccounts";
	const audiences = ["xpdb-agent"];
	const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences } };
	type Issued = { readonly status: { readonly token: string } };
	const { token } = (await client.send<Issued>("POST", `${collection}/xpdb-operator/token`, request)).status;
	const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token, audiences } };
	type Reviewed = { readonly status: { readonly authenticated?: boolean } };
	const isGood = async () =>
		(await client.send<Reviewed>("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)).status.authenticated;
	// Makes the API server cache an answer for this token last, so that its cached answers for older tokens of the account expire earlier.
	await isGood();
	await client.send("DELETE", `${collection}/xpdb-operator`);
	while ((await isGood()) === true) await delay(250);
	return async () => {
		await client.send("POST", collection, {
			apiVersion: "v1",
			kind: "ServiceAccount",
			metadata: { name: "xpdb-operator", namespace: "xpdb-system" },
			automountServiceAccountToken: false,
		});
	};
}
