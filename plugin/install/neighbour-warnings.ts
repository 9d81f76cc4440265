// Form3's x-pdb beside us: its webhooks judge the same evictions by the same budgets, with locks that we do not see.
import type { V1ValidatingWebhookConfiguration } from "@kubernetes/client-node";
import { isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { installStep } from "./install-step.ts";

const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/** What a person should know before the plan is carried out, one line each. */
export async function neighbourWarnings(context: KubeContext): Promise<readonly string[]> {
	const listed = context.client.list<V1ValidatingWebhookConfiguration>(path).catch((error: unknown) => {
		if (isNotFound(error)) return [];
		throw error;
	});
	const configurations = await installStep(context, "list the admission webhooks", listed);
	return configurations.filter(isNeighbour).map(({ metadata }) => {
		const name = metadata?.name ?? "";
		return (
			`${context.name}: x-pdb is installed (validatingwebhookconfiguration/${name}) and goes on judging evictions by the same budgets, one at a ` +
			"time: both have to agree. Its budgets are taken as they are. Once kubectl xpdb budgets shows them, take it away: " +
			`kubectl --context ${context.name} delete validatingwebhookconfiguration ${name}`
		);
	});
}

/** By the name of the configuration, of a webhook or of the Service that answers. */
export function isNeighbour({
	metadata,
	webhooks = [],
}: Pick<V1ValidatingWebhookConfiguration, "metadata" | "webhooks">): boolean {
	const names = [metadata?.name, ...webhooks.flatMap(({ name, clientConfig }) => [name, clientConfig.service?.name])];
	const judgesPods = webhooks.some(({ rules = [] }) =>
		rules.some(({ resources = [] }) => resources.some((resource) => resource.startsWith("pods"))),
	);
	return judgesPods && names.some((name) => name !== undefined && /(^|[^a-z])x-pdb([^a-z]|$)/.test(name));
}
