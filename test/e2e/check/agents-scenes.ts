// Agents that are not there, silent, alone, not ready, or of another version: 1302 and 131x.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "../../../demo/machine/certificates.ts";
import { untilAgentsReady } from "../../controlplane/faults.ts";
import { otherProgram } from "../../controlplane/program-fault.ts";
import { agentNames, fleetControl, recoverAgents } from "../agents.ts";
import { getJson } from "../get-json.ts";
import { apply, eventually, kubectl } from "../kubectl.ts";
import { removeNamespace } from "../remove-namespace.ts";
import { buildAgent, type OtherAgent } from "./build-agent.ts";
import type { Provocation, Scene } from "./provocation.ts";
import { everywhere, operators } from "./run-check.ts";

const anchor = ["-n", "xpdb-system"];
const version = `kubectl xpdb version --contexts=${operators.join(",")}`;
const seePods = (context: string): string =>
	`kubectl get pods -n xpdb-system -l app.kubernetes.io/name=xpdb-agent -o wide --context ${context}`;

async function scale(cluster: string, replicas: number): Promise<void> {
	await kubectl(cluster, [...anchor, "scale", "deployment", "xpdb-agent", `--replicas=${replicas}`]);
	await eventually(
		`${replicas} agents in ${cluster}`,
		async () => (await fleetControl().listAgents(cluster)).length === replicas,
	);
}

/** Kills this agent, which starts again as this build. */
async function replaceAgent(cluster: string, pod: string, other: Omit<OtherAgent, "folder">): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-agent-"));
	try {
		await fleetControl().setAgentEnvironment(cluster, otherProgram(await buildAgent({ ...other, folder })));
		await fleetControl().killAgent(cluster, pod);
		await untilAgentsReady(fleetControl(), cluster);
	} finally {
		await fleetControl().setAgentEnvironment(cluster, {});
		rmSync(folder, { recursive: true });
	}
}

/** All of them, as they were built. */
async function restoreAgents(cluster: string): Promise<void> {
	await scale(cluster, 2);
	for (const { name, pid } of await fleetControl().listAgents(cluster)) {
		if (pid !== undefined) await fleetControl().killAgent(cluster, name);
	}
	await recoverAgents();
}

const keptCa = "/api/v1/namespaces/xpdb-system/configmaps/xpdb-ca";
let ca: string | undefined;

async function declareCa(text: string): Promise<void> {
	const data = JSON.stringify({ data: { "ca.crt": text } });
	await kubectl("c1", ["patch", "configmap", "xpdb-ca", ...anchor, "--type=merge", "-p", data]);
}

const silent: Provocation = {
	reason: "AgentSilent",
	fault: "a ConfigMap with the CA of another fleet",
	cluster: "c1-operator",
	async provoke() {
		const { data } = await getJson<{ readonly data: Readonly<Record<string, string>> }>("c1", keptCa);
		ca = data["ca.crt"];
		await declareCa((await createAuthority("another fleet")).certificate);
	},
	says: "certificate",
	fix: seePods("c1-operator"),
	async end() {
		if (ca !== undefined) await declareCa(ca);
	},
};

const notReady: Provocation = {
	reason: "AgentNotReady",
	fault: "an agent that ended and has not started again",
	cluster: "c2-operator",
	async provoke() {
		const [, second = ""] = await agentNames("c2");
		await fleetControl().setAgentRestarts("c2", false);
		await fleetControl().killAgent("c2", second);
	},
	says: /^1 of its 2 agents are ready, and xpdb-system\/xpdb-agent-\S+ is not$/,
	fix: /^kubectl describe pod xpdb-agent-\S+ -n xpdb-system --context c2-operator$/,
	end: recoverAgents,
};

const differ: Provocation = {
	reason: "VersionsDiffer",
	fault: "an agent of the next minor version",
	cluster: "c2-operator",
	async provoke() {
		const [first = ""] = await agentNames("c2");
		await replaceAgent("c2", first, { version: "0.2.0" });
	},
	says: "its agents are 0.2.0, the plugin is v0.1.0",
	fix: version,
	end: () => restoreAgents("c2"),
};

const single: Provocation = {
	reason: "SingleAgent",
	fault: "a Deployment of one agent",
	cluster: "c3-operator",
	provoke: () => scale("c3", 1),
	says: "it has a single agent: while that restarts, nothing is evicted in the whole fleet",
	fix: "kubectl scale deployment xpdb-agent --replicas=2 -n xpdb-system --context c3-operator",
	mend: "fix",
	end: () => scale("c3", 2),
};

const apart: Provocation = {
	reason: "VersionsApart",
	fault: "an agent two minor versions ahead",
	cluster: "c3-operator",
	async provoke() {
		const [only = ""] = await agentNames("c3");
		await replaceAgent("c3", only, { version: "0.3.0", features: ["Probe"] });
	},
	says: "its agents are 0.3.0, the plugin is v0.1.0: more than one minor version apart, which nobody has tried",
	fix: version,
	end: () => restoreAgents("c3"),
};

const features: Provocation = {
	reason: "FeaturesDiffer",
	fault: "agents that do not understand what those two versions ahead do",
	cluster: "c2-operator",
	provoke: async () => undefined,
	says: "its agents do not understand Probe, others of the fleet do: a budget that uses it is refused",
	fix: version,
	end: async () => undefined,
};

const namespace = `check-${randomBytes(4).toString("hex")}`;

const foreign: Provocation = {
	reason: "ForeignAgentPods",
	fault: "a pod with the agents' label in another namespace",
	cluster: "c1-operator",
	async provoke() {
		const metadata = { name: "a", namespace, labels: { "app.kubernetes.io/name": "xpdb-agent" } };
		const spec = { containers: [{ name: "c", image: "example.com/c:1" }] };
		await kubectl("c1", ["create", "namespace", namespace]);
		await apply(["c1"], [{ apiVersion: "v1", kind: "Pod", metadata, spec }]);
	},
	says: `label app.kubernetes.io/name=xpdb-agent are in other namespaces, and are no agents: ${namespace}/a`,
	fix: "kubectl get pods -A -l app.kubernetes.io/name=xpdb-agent --context c1-operator",
	end: () => removeNamespace(["c1"], namespace),
};

const none: Provocation = {
	reason: "NoAgents",
	fault: "a Deployment of no agents",
	cluster: "c2-operator",
	provoke: () => scale("c2", 0),
	says: "no agent runs in namespace xpdb-system: nothing is evicted in the whole fleet",
	fix: "kubectl xpdb check --pre --context c2-operator",
	async end() {
		await scale("c2", 2);
		await recoverAgents();
	},
};

const there: Provocation = {
	reason: "AgentsThere",
	fault: "an installation",
	cluster: "c3",
	provoke: async () => undefined,
	says: "2 of its pods in namespace xpdb-system are agents already: an installation changes them",
	fix: "kubectl xpdb check --context c3",
	mend: () => scale("c3", 0),
	async end() {
		await scale("c3", 2);
		await recoverAgents();
	},
};

export const agentsScenes: readonly Scene[] = [
	{
		name: "agents that are alone, not ready and of other versions",
		args: everywhere,
		rows: [foreign, differ, notReady, single, apart, features],
	},
	{
		name: "agents that are silent, or not there",
		args: everywhere,
		rows: [silent, none],
		besides: ["NotChecked", "MembersApart"],
	},
	{ name: "agents that are there before an installation", args: ["--pre", "--context", "c3"], rows: [there] },
];
