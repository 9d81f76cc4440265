// Warns about Form3's x-pdb beside xpdb: its webhooks judge the same evictions by the same budgets, with locks that xpdb does not see.
import type { V1ValidatingWebhookConfiguration } from "@kubernetes/client-node";
import { isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { installStep } from "./install-step.ts";

const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/** Returns what a user should know before applying the plan, one line each. */
export async function neighbourWarnings(context: KubeContext): Promise<readonly string[]> {
	const listed = context.client.list<V1ValidatingWebhookConfiguration>(path).catch((error: unknown) => {
		if (isNotFound(error)) return [];
		throw error;
	});
	const configurations = await installStep(context, "list the admission webhooks", listed);
	return configurations.filter(isNeighbour).map((configuration) => {
		const name = configuration.metadata?.name ?? "";
		const theirs = new Set(
			(configuration.webhooks ?? []).flatMap(({ clientConfig }) => clientConfig.service?.namespace ?? []),
		);
		const place = theirs.size === 0 ? "" : ` in namespace ${[...theirs].join(", ")}`;
		return (
			`${context.name}: ${neighbourText([`validatingwebhookconfiguration/${name}`])}. Once kubectl xpdb budgets shows what it should, in every cluster: ` +
			`${context.suggest.kubectl(["delete", "validatingwebhookconfiguration", name], context.name)}. Then its other objects${place} can go, but not ` +
			"the definition of budgets: all budgets go with it"
		);
	});
}

/** `names`: x-pdb's webhook configurations. */
export function neighbourText(names: readonly string[]): string {
	return (
		`x-pdb judges evictions there too, by ${names.join(", ")}: both have to agree, and neither sees what the other has granted. ` +
		"It keeps a budget's lock for 5 s after each answer: twelve evictions a minute, however much room there is"
	);
}

/** Recognises x-pdb by webhooks for pods, and by the name of the configuration, of a webhook, or of the Service that answers. */
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
