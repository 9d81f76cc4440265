import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { agentManifests, type Manifest } from "../../demo/agents/agent-manifests.ts";
import { applyManifests } from "../../demo/apiserver/apply-manifests.ts";
import { createAuthority, issueAgentCertificate } from "../../demo/machine/certificates.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { apiServerContract } from "./contract.ts";
import type { ContractTarget } from "./contract-target.ts";
import { startTestCluster } from "./test-cluster.ts";

const httpPort = 8080;

apiServerContract("the small API server", async (): Promise<ContractTarget> => {
	const pod = createServer((_request, response) => response.end("ok"));
	await new Promise<void>((resolve) => pod.listen(0, "127.0.0.1", resolve));
	const { port } = pod.address() as AddressInfo;
	const cluster = await startTestCluster({
		dialPod: (_pod, asked) => (asked === httpPort ? { host: "127.0.0.1", port } : undefined),
	});
	const { controllers, certificates } = cluster;
	applyManifests(controllers, [...(await manifests(cluster.id)), httpPod]);
	return {
		server: cluster.server,
		authority: certificates.authority.certificate,
		admin: certificates.pairs.admin,
		operator: certificates.pairs.operator,
		pauseControllers: async () => controllers.pause(),
		resumeControllers: async () => controllers.resume(),
		compact: async () => cluster.core.store.compact(),
		httpPod: async () => ({ namespace: "xpdb-system", name: "http", port: httpPort }),
		async close() {
			await cluster.stop();
			await new Promise((resolve) => pod.close(resolve));
		},
	};
});

const httpPod = {
	apiVersion: "v1",
	kind: "Pod",
	metadata: { name: "http", namespace: "xpdb-system" },
	spec: { serviceAccountName: "xpdb-agent", containers: [{ name: "main", image: "none" }] },
};

async function manifests(id: string): Promise<readonly Manifest[]> {
	const authority = await createAuthority("xpdb-fleet-ca");
	return agentManifests(join(repositoryRoot, "agent", "deploy"), {
		members: [{ id, name: "c1", address: "127.0.0.1:8444" }],
		fleetCertificate: authority.certificate,
		agentPair: await issueAgentCertificate(authority, { clusterId: id }),
	});
}
