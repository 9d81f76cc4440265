// Runs kubectl as the administrator of the test clusters, to prepare and inspect tests.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createAdminClient, inTheAgentsName as impersonation } from "../controlplane/admin-client.ts";
import { sharedFleet } from "../controlplane/shared-fleet.ts";
import { applyObjects } from "../support/apply-object.ts";

const run = promisify(execFile);

/** Rejects with the standard error if kubectl fails. */
export async function kubectl(context: string, args: readonly string[], stdin?: string): Promise<string> {
	const { dir, kubeconfigPath } = sharedFleet();
	const child = run(join(dir, "bin", "kubectl"), ["--kubeconfig", kubeconfigPath, "--context", context, ...args], {
		maxBuffer: 64 * 1024 * 1024,
	});
	if (stdin !== undefined) child.child.stdin?.end(stdin);
	const { stdout } = await child;
	return stdout;
}

/** Flags that impersonate the agents, because the shipped policies let only agents change their Leases. */
export const inTheAgentsName: readonly string[] = [
	`--as=${impersonation.user}`,
	...(impersonation.groups ?? []).map((group) => `--as-group=${group}`),
];

export async function apply(contexts: readonly string[], objects: readonly object[]): Promise<void> {
	await Promise.all(
		contexts.map(async (context) => {
			const cluster = sharedFleet().clusters.find(({ name }) => name === context);
			if (!cluster) throw new Error(`There is no cluster ${context}`);
			// A new connection, because those to an API server that a test killed are closed.
			const client = createAdminClient(cluster);
			try {
				await applyObjects(client, objects);
			} finally {
				client.close();
			}
		}),
	);
}

/** Repeats the check until it holds. Throws after `timeoutMs`. */
export async function eventually(what: string, holds: () => Promise<boolean>, timeoutMs = 120_000): Promise<void> {
	const until = performance.now() + timeoutMs;
	for (;;) {
		if (await holds()) return;
		if (performance.now() > until) throw new Error(`${what} did not come about within ${timeoutMs / 1000} s`);
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}
