// Reads the policies that keep others from changing what the agents rely on, and the admission webhooks, to find those of x-pdb.
import type {
	V1ValidatingAdmissionPolicy,
	V1ValidatingAdmissionPolicyBinding,
	V1ValidatingWebhookConfiguration,
} from "@kubernetes/client-node";
import { isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { Reading } from "./check-report.ts";

const registration = "/apis/admissionregistration.k8s.io/v1";

/** As in agent/deploy/policies.yaml. Each has a binding of the same name. */
export const policyNames = ["xpdb-agent-pods", "xpdb-leases"] as const;

export interface PolicyObjects {
	/** One entry for each name, without a policy if it does not exist. */
	readonly policies: Reading<readonly PolicyInForce[]>;
	readonly webhooks: Reading<readonly WebhookConfiguration[]>;
}

export interface PolicyInForce {
	readonly name: string;
	readonly policy: V1ValidatingAdmissionPolicy | undefined;
	readonly binding: V1ValidatingAdmissionPolicyBinding | undefined;
}

export interface WebhookConfiguration extends Pick<V1ValidatingWebhookConfiguration, "metadata" | "webhooks"> {
	readonly kind: "validatingwebhookconfigurations" | "mutatingwebhookconfigurations";
}

type Ask = <T>(question: () => Promise<T>) => Promise<Reading<T>>;

export async function readPolicies({ client }: KubeContext, ask: Ask): Promise<PolicyObjects> {
	const find = async <T>(path: string): Promise<T | undefined> => {
		try {
			return await client.get<T>(`${registration}/${path}`);
		} catch (error) {
			if (isNotFound(error)) return undefined;
			throw error;
		}
	};
	const list = async (kind: WebhookConfiguration["kind"]): Promise<readonly WebhookConfiguration[]> => {
		const found = await client.list<V1ValidatingWebhookConfiguration>(`${registration}/${kind}`);
		return found.map(({ metadata, webhooks }) => ({
			kind,
			...(metadata && { metadata }),
			...(webhooks && { webhooks }),
		}));
	};
	const [policies, webhooks] = await Promise.all([
		ask(() =>
			Promise.all(
				policyNames.map(async (name) => {
					const [policy, binding] = await Promise.all([
						find<V1ValidatingAdmissionPolicy>(`validatingadmissionpolicies/${name}`),
						find<V1ValidatingAdmissionPolicyBinding>(`validatingadmissionpolicybindings/${name}`),
					]);
					return { name, policy, binding };
				}),
			),
		),
		ask(async () =>
			(await Promise.all([list("validatingwebhookconfigurations"), list("mutatingwebhookconfigurations")])).flat(),
		),
	]);
	return { policies, webhooks };
}
