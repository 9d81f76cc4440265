// Scenes of agents that are missing, silent, alone, not ready, or of another version: codes 1302, 131x and 1320.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "../../../demo/machine/certificates.ts";
import { wrongClock } from "../../controlplane/clock-fault.ts";
import { untilAgentsReady } from "../../controlplane/faults.ts";
import { clientVersion } from "../../../plugin/kubernetes/client-version.ts";
import { otherProgram } from "../../controlplane/program-fault.ts";
import { agentNames, fleetControl, recoverAgents } from "../agents.ts";
import { getJson } from "../get-json.ts";
import { apply, eventually, kubectl } from "../kubectl.ts";
import { removeNamespace } from "../remove-namespace.ts";
import { buildAgent, type OtherAgent } from "./build-agent.ts";
import type { Provocation, Scene } from "./provocation.ts";
import { besideBudgets, everywhere, operators } from "./run-check.ts";

const anchor = ["-n", "xpdb-system"];
const nothing = async (): Promise<void> => undefined;
const [major, minor] = clientVersion.slice(1).split(".").map(Number);
const minorAhead = (by: number): string => `${major}.${(minor ?? 0) + by}.0`;
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

/** Kills one of the two agents, by default the first one. It restarts with this environment. */
async function restart(cluster: string, environment: Readonly<Record<string, string>>, index = 0): Promise<void> {
	const name = (await agentNames(cluster))[index] ?? "";
	await fleetControl().setAgentEnvironment(cluster, environment);
	await fleetControl().killAgent(cluster, name);
	await untilAgentsReady(fleetControl(), cluster);
	await fleetControl().setAgentEnvironment(cluster, {});
}

async function replace(cluster: string, other: Omit<OtherAgent, "folder">, index = 0): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-agent-"));
	try {
		await restart(cluster, otherProgram(await buildAgent({ ...other, folder })), index);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

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
	provoke: () => replace("c2", { version: minorAhead(1) }),
	says: `its agents are ${minorAhead(1)}, the plugin is ${clientVersion}`,
	fix: version,
	end: () => restoreAgents("c2"),
};

const unsafe: Provocation = {
	reason: "AgentUnsafe",
	fault: "an agent of version 0.1 beside one of today's",
	cluster: "c1-operator",
	provoke: () => replace("c1", { version: "0.1.0" }, 1),
	says: "some of its agents are 0.1.0, which can allow more disruptions than a budget permits",
	fix: version,
	end: () => restoreAgents("c1"),
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
	provoke: () => replace("c3", { version: minorAhead(2), features: ["Probe"] }),
	says: `its agents are ${minorAhead(2)}, the plugin is ${clientVersion}: more than one minor version apart, which is not tested`,
	fix: version,
	end: () => restoreAgents("c3"),
};

const features: Provocation = {
	reason: "FeaturesDiffer",
	fault: "agents that do not understand what those two versions ahead do",
	cluster: "c2-operator",
	provoke: nothing,
	says: "its agents do not support Probe, others of the fleet do: a budget that uses it is refused",
	fix: version,
	end: nothing,
};

const skewed: Provocation = {
	reason: "ClockSkew",
	fault: "an agent whose clock is ahead",
	cluster: "c1-operator",
	provoke: () => restart("c1", wrongClock({ offsetMs: 60_000 })),
	says: /^the clock of pod xpdb-system\/xpdb-agent-\S+ is \d+s ahead of its API server's: /,
	fix: "kubectl get pods -n xpdb-system -o wide --context c1-operator",
	end: () => restoreAgents("c1"),
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
	says: `label app.kubernetes.io/name=xpdb-agent are in other namespaces and are not agents: ${namespace}/a`,
	fix: "kubectl get pods -A -l app.kubernetes.io/name=xpdb-agent --context c1-operator",
	end: () => removeNamespace(["c1"], namespace),
};

const webhook = `x-pdb-${namespace}`;
const webhookConfiguration = {
	apiVersion: "admissionregistration.k8s.io/v1",
	kind: "ValidatingWebhookConfiguration",
	metadata: { name: webhook },
	webhooks: [
		{
			name: "eviction.x-pdb.form3.tech",
			admissionReviewVersions: ["v1"],
			sideEffects: "None",
			failurePolicy: "Ignore",
			clientConfig: { service: { name: "x-pdb", namespace } },
			// Nothing here calls the webhook.
			namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
			rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods/eviction"] }],
		},
	],
};

const beside: Provocation = {
	reason: "XpdbBeside",
	fault: "a webhook of x-pdb",
	cluster: "c3-operator",
	provoke: () => apply(["c3"], [webhookConfiguration]),
	says: `x-pdb judges evictions there too, by ${webhook}: both have to agree`,
	fix: `kubectl get validatingwebhookconfigurations ${webhook} -o yaml --context c3-operator`,
	end: () => kubectl("c3", ["delete", "validatingwebhookconfiguration", webhook, "--ignore-not-found"]),
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

interface AgentPodStatus {
	readonly items: readonly {
		readonly status: {
			readonly containerStatuses?: readonly {
				readonly lastState?: { readonly terminated?: { readonly exitCode: number } };
			}[];
		};
	}[];
}

const memory: Provocation = {
	reason: "AgentMemory",
	fault: "an agent whose heap is too small to start",
	cluster: "c3-operator",
	async provoke() {
		const [first = ""] = await agentNames("c3");
		await fleetControl().setAgentEnvironment("c3", { NODE_OPTIONS: "--max-semi-space-size=1 --max-old-space-size=8" });
		await fleetControl().killAgent("c3", first);
		await eventually("an agent that V8 ended", async () => {
			const { items } = await getJson<AgentPodStatus>("c3", "/api/v1/namespaces/xpdb-system/pods");
			return items.some(({ status }) => status.containerStatuses?.[0]?.lastState?.terminated?.exitCode === 134);
		});
	},
	says: /^agent xpdb-system\/xpdb-agent-\S+ had too little memory with a limit of 224Mi \(its heap was full, \d+ restarts?\)$/,
	fix: "kubectl xpdb upgrade --agent-memory=448Mi --context c3-operator",
	// The fleet of the tests was not installed by xpdb, so its objects have another field manager.
	fixCode: 1,
	async end() {
		await fleetControl().setAgentEnvironment("c3", {});
		// A pod keeps the last end of its container.
		const ended = new Set(await agentNames("c3"));
		await kubectl("c3", ["delete", "pod", ...ended, ...anchor, "--wait=false"]);
		await eventually("two new agents in c3", async () => {
			const names = await agentNames("c3");
			return names.length === 2 && names.every((name) => !ended.has(name));
		});
		await recoverAgents();
	},
};

const there: Provocation = {
	reason: "AgentsThere",
	fault: "an installation",
	cluster: "c3",
	provoke: nothing,
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
		name: "agents that are alone, not ready and of other versions, and what stands beside them",
		args: [...everywhere, ...besideBudgets],
		rows: [foreign, skewed, unsafe, differ, notReady, features, single, apart, beside],
	},
	{
		name: "agents that are silent, or not there",
		args: [...everywhere, ...besideBudgets],
		rows: [silent, none, memory],
		besides: ["NotChecked", "MembersApart", "AgentNotReady"],
	},
	{ name: "agents that are there before an installation", args: ["--pre", "--context", "c3"], rows: [there] },
];
