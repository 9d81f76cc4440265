// Whether the certificates that agents start with are there, where somebody else makes them (cert-manager, or a person).
import { isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import { installStep } from "./install-step.ts";

/** The Secret with an agent's certificate and key, and the ConfigMap with the CA that signs all of them. */
export const agentCertificateSecret = "xpdb-agent-tls";
export const fleetCaConfigMap = "xpdb-ca";

/** Throws UsageError that names what is missing. Nothing of the Secret is read but whether it is there. */
export async function requireCertificates(contexts: readonly KubeContext[]): Promise<void> {
	const missing = (await Promise.all(contexts.map(missingIn))).flat();
	if (missing.length === 0) return;
	throw new UsageError(
		`the agents' certificates are not there, nothing was touched: ${missing.join(", ")}`,
		"Make them, and the namespace before, as docs/operations.md says under Install",
	);
}

async function missingIn(context: KubeContext): Promise<readonly string[]> {
	const { client, name, agents } = context;
	const place = `/api/v1/namespaces/${agents.namespace}`;
	const objects = [
		{
			text: `Secret ${agents.namespace}/${agentCertificateSecret}`,
			path: `${place}/secrets/${agentCertificateSecret}`,
		},
		{ text: `ConfigMap ${agents.namespace}/${fleetCaConfigMap}`, path: `${place}/configmaps/${fleetCaConfigMap}` },
	];
	const found = await Promise.all(
		objects.map(async ({ text, path }) => {
			const answer = client.get(path, { metadataOnly: true }).then(
				() => true,
				(error: unknown) => {
					if (isNotFound(error)) return false;
					throw error;
				},
			);
			return (await installStep(context, `look for ${text}`, answer)) ? [] : [`${name}: ${text}`];
		}),
	);
	return found.flat();
}
