// Builds admission policies and webhooks as `check` reads them.
import type { Reading } from "../../plugin/check/check-report.ts";
import type { PolicyObjects } from "../../plugin/check/read-policies.ts";

const read = <T>(value: T): Reading<T> => ({ kind: "read", value });

export const policy = (name: string, failurePolicy = "Fail") => ({ metadata: { name }, spec: { failurePolicy } });
export const binding = (policyName: string, validationActions = ["Deny", "Audit"]) => ({
	spec: { policyName, validationActions },
});
export const policiesOf = (first: object): PolicyObjects => ({
	policies: read([{ name: "xpdb-leases", policy: policy("xpdb-leases"), binding: binding("xpdb-leases"), ...first }]),
	webhooks: read([]),
});
export const webhooksOf = (name: string): PolicyObjects => ({
	policies: read([]),
	webhooks: read([
		{
			kind: "validatingwebhookconfigurations",
			metadata: { name: "any-release" },
			webhooks: [
				{
					name,
					admissionReviewVersions: ["v1"],
					clientConfig: {},
					sideEffects: "None",
					rules: [{ resources: ["pods/eviction"] }],
				},
			],
		},
	]),
});
