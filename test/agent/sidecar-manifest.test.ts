// Tests that the sidecar example runs the same agent as the Deployment, with the same image, environment and resources.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { parseConfig } from "../../agent/process/config.ts";

interface Container {
	readonly image: string;
	readonly restartPolicy?: string;
	readonly args: readonly string[];
	readonly env: readonly unknown[];
	readonly resources: unknown;
	readonly ports: readonly { readonly containerPort: number }[];
	readonly securityContext: Readonly<Record<string, unknown>>;
	readonly volumeMounts: readonly { readonly name: string }[];
}

interface PodSpec {
	readonly automountServiceAccountToken?: boolean;
	readonly securityContext?: Readonly<Record<string, unknown>>;
	readonly containers: readonly Container[];
	readonly initContainers?: readonly Container[];
	readonly volumes: readonly { readonly name: string }[];
}

function podSpecOf(file: string, kind: string): PodSpec {
	const documents = parseAllDocuments(readFileSync(file, "utf8")).map(
		(document) => document.toJS() as { kind: string; spec: { template: { spec: PodSpec } } },
	);
	const found = documents.find((document) => document.kind === kind);
	if (!found) throw new Error(`${file} has no ${kind}`);
	return found.spec.template.spec;
}

const deployment = podSpecOf("agent/deploy/deployment.yaml", "Deployment");
const workload = podSpecOf("agent/sidecar/sidecar.yaml", "StatefulSet");
const [agent] = deployment.containers;
const [sidecar] = workload.initContainers ?? [];
if (!agent || !sidecar) throw new Error("There is no agent");

test("the sidecar is what the Deployment runs, beside the others to their end", () => {
	expect(sidecar.restartPolicy).toBe("Always");
	for (const key of ["image", "env", "resources"] as const) expect(sidecar[key], key).toEqual(agent[key]);
	expect(sidecar.args.filter((arg) => !agent.args.includes(arg))).toEqual(["--http-listen-address=:8090"]);
	expect(agent.args.filter((arg) => !sidecar.args.includes(arg))).toEqual([]);
	expect(sidecar.ports.map(({ containerPort }) => containerPort)).toEqual([8443, 8444, 8090]);
	// The Deployment's pod-level settings are the container's here, because the workload's pod has its own.
	expect(sidecar.securityContext).toEqual({ ...deployment.securityContext, ...agent.securityContext });
});

test("the agent takes what the sidecar's arguments say", async () => {
	const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", POD_NAME: "db-0", POD_NAMESPACE: "shop", POD_IP: "10.0.0.2" };
	expect(await parseConfig(sidecar.args, env)).toMatchObject({
		pod: { namespace: "shop" },
		agentNamespace: "xpdb-system",
		leaseNamespace: "xpdb-system",
		httpListen: { hosts: ["10.0.0.2"], port: 8090 },
	});
});

test("no container of the workload has the account's token, or anything else of the agent's", () => {
	expect(workload.automountServiceAccountToken).toBe(false);
	const ofTheAgent = new Set(workload.volumes.map(({ name }) => name));
	expect(ofTheAgent).toEqual(new Set(sidecar.volumeMounts.map(({ name }) => name)));
	for (const { volumeMounts = [] } of workload.containers) {
		expect(volumeMounts.filter(({ name }) => ofTheAgent.has(name))).toEqual([]);
	}
});
