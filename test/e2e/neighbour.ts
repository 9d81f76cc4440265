// Plays Form3's x-pdb as installed in a cluster: its CRD, its webhook and a budget.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { repositoryRoot } from "../../scripts/repository-root.ts";

/** Returns the CRD of the same API with one different column name. */
export function neighbourDefinition(): object {
	const text = readFileSync(join(repositoryRoot, "agent", "deploy", "crd.yaml"), "utf8");
	return parse(text.replace("name: Min Available", "name: MIN"));
}

export const neighbour: readonly object[] = [
	{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
	{
		apiVersion: "admissionregistration.k8s.io/v1",
		kind: "ValidatingWebhookConfiguration",
		metadata: { name: "x-pdb" },
		webhooks: [
			{
				name: "eviction.x-pdb.form3.tech",
				admissionReviewVersions: ["v1"],
				sideEffects: "None",
				failurePolicy: "Ignore",
				clientConfig: { service: { name: "x-pdb", namespace: "shop" } },
				// The tests do nothing that would call this webhook.
				namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "shop" } },
				rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods/eviction"] }],
			},
		],
	},
];

export function neighbourBudget(maxUnavailable: number): object {
	return {
		apiVersion: "x-pdb.form3.tech/v1alpha1",
		kind: "XPodDisruptionBudget",
		metadata: { name: "db", namespace: "shop" },
		spec: { maxUnavailable, selector: { matchLabels: { app: "db" } } },
	};
}
