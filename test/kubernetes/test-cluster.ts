// Starts a small cluster with its own folder, certificates and kubeconfig for one test file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiObject } from "../../demo/apiserver/api-object.ts";
import { createSmallCertificates } from "../../demo/apiserver/small-certificates.ts";
import { type SmallCluster, startSmallCluster } from "../../demo/apiserver/small-cluster.ts";
import type { Endpoint } from "../../demo/machine/endpoint.ts";
import { writeKubeconfig } from "../../demo/machine/kubeconfig.ts";

export interface TestCluster extends SmallCluster {
	readonly dir: string;
	/** Has one context, "c1", for the administrator. */
	readonly kubeconfig: string;
}

export async function startTestCluster({
	nodes = 0,
	dialPod = () => undefined,
}: {
	readonly nodes?: number;
	readonly dialPod?: (pod: ApiObject, port: number) => Endpoint | undefined;
} = {}): Promise<TestCluster> {
	const dir = mkdtempSync(join(tmpdir(), "xpdb-small-"));
	const certificates = await createSmallCertificates("c1", dir);
	const cluster = await startSmallCluster({ name: "c1", dir, certificates, nodes, dialPod });
	const kubeconfig = join(dir, "kubeconfig");
	writeKubeconfig(kubeconfig, [
		{
			context: "c1",
			cluster: "c1",
			server: cluster.server,
			authority: certificates.authority.certificate,
			user: "admin",
			credentials: certificates.pairs.admin,
		},
	]);
	return {
		...cluster,
		dir,
		kubeconfig,
		async stop() {
			await cluster.stop();
			rmSync(dir, { recursive: true, force: true });
		},
	};
}
