// Runs a whole small cluster in this process: its API server and its controllers.
import { join } from "node:path";
import type { IssuedCertificates } from "../machine/certificates.ts";
import { type Endpoint, hostPort } from "../machine/endpoint.ts";
import { type ApiCore, createApiCore } from "./api-core.ts";
import type { ApiObject } from "./api-object.ts";
import { startApiServer } from "./api-server.ts";
import { openAuditLog } from "./audit-log.ts";
import { createBootstrapObjects, createNodes } from "./bootstrap.ts";
import { ControllerHost } from "./controllers/controller.ts";
import { runDaemonSetController } from "./controllers/daemon-sets.ts";
import { runDeploymentController } from "./controllers/deployments.ts";
import { runDisruptionController } from "./controllers/disruption.ts";
import { runGarbageCollector } from "./controllers/garbage-collector.ts";
import { type PodTimes, quickPods, runKubelets } from "./controllers/kubelet.ts";
import { runNamespaceController } from "./controllers/namespaces.ts";
import { runReplicaSetController } from "./controllers/replica-sets.ts";
import { runScheduler } from "./controllers/scheduler.ts";
import { runStatefulSetController } from "./controllers/stateful-sets.ts";

export interface SmallClusterOptions {
	readonly name: string;
	/** The folder of its audit log. */
	readonly dir: string;
	/** Made by small-certificates.ts. */
	readonly certificates: IssuedCertificates;
	/** Where its API server listens, and the address of its nodes. By default 127.0.0.1. */
	readonly address?: string;
	/** By default any free port. */
	readonly port?: number;
	/** None by default. They are named NAME-n0, NAME-n1 and so on. */
	readonly nodes?: number;
	readonly times?: PodTimes;
	/** Whether other code runs a real process for the pod. */
	readonly runsElsewhere?: (pod: ApiObject) => boolean;
	readonly dialPod: (pod: ApiObject, port: number) => Endpoint | undefined;
}

export interface SmallCluster {
	readonly name: string;
	readonly server: string;
	/** The UID of kube-system. */
	readonly id: string;
	readonly core: ApiCore;
	readonly controllers: ControllerHost;
	readonly certificates: IssuedCertificates;
	readonly auditLog: string;
	stop(): Promise<void>;
}

/** The caller must stop the cluster. */
export async function startSmallCluster(options: SmallClusterOptions): Promise<SmallCluster> {
	const { name, dir, certificates, dialPod, port = 0, nodes = 0, times = quickPods } = options;
	const { runsElsewhere = () => false, address = "127.0.0.1" } = options;
	const auditLog = join(dir, "audit.jsonl");
	const audit = openAuditLog(auditLog);
	const core = await createApiCore(audit);
	const controllers = new ControllerHost(core);
	createBootstrapObjects(controllers);
	createNodes(controllers, name, { count: nodes, address });
	runNamespaceController(controllers);
	runGarbageCollector(controllers);
	runDisruptionController(controllers);
	runDaemonSetController(controllers);
	runReplicaSetController(controllers);
	runDeploymentController(controllers);
	runStatefulSetController(controllers);
	runScheduler(controllers);
	runKubelets(controllers, { times, runsElsewhere, address });
	const server = await startApiServer({
		core,
		certificate: certificates.pairs.apiserver.certificate,
		key: certificates.pairs.apiserver.key,
		clientAuthority: certificates.authority.certificate,
		host: address,
		port,
		dialPod,
	});
	return {
		name,
		server: `https://${hostPort({ host: address, port: server.port })}`,
		id: core.store.find("namespaces", "/kube-system")?.metadata.uid ?? "",
		core,
		controllers,
		certificates,
		auditLog,
		async stop() {
			controllers.stop();
			await server.close();
			await audit.close();
		},
	};
}
