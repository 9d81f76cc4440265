// Judges the agents of each cluster: their number and memory, whether they answer, their versions and features, and pods that only look
// like agents.
import { agentLabel, agentName } from "../../disruption/agent-names.ts";
import type { AgentAccessResult } from "../fleet/agent-access.ts";
import { renewExpired, diagnoseCommand } from "../fleet/diagnose-command.ts";
import { isUnsafeAgent } from "../fleet/unsafe-agents.ts";
import { leastMemoryMi, memoryBytes } from "../install/agent-settings/memory-quantity.ts";
import { clientVersion } from "../kubernetes/client-version.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { type ClusterCheck, type FoundProblem, notChecked, ofReading, type Reading } from "./check-report.ts";
import type { AgentOfCluster } from "./read-agents.ts";
import type { MemoryEnd } from "./read-memory-ends.ts";
import type { AgentsOfCluster, LabelledPod } from "./read-cluster.ts";

type Place = Pick<KubeContext, "name" | "suggest" | "agents">;

/** If `ends` could not be read, the agents are judged without it. */
export function judgeAgentCount(
	agents: Reading<AgentsOfCluster>,
	ends: Reading<readonly MemoryEnd[]>,
	{ name, suggest, agents: place }: Place,
): ClusterCheck {
	return ofReading(agents, ({ pods }) => {
		const ready = pods.filter((pod) => pod.ready).length;
		const text = `${ready}/${pods.length}`;
		if (pods.length === 0) {
			const message = `no agent runs in namespace ${place.namespace}: nothing is evicted in the whole fleet`;
			return { text, findings: [{ reason: "NoAgents", message, fix: suggest.xpdb(["check", "--pre"], name) }] };
		}
		const ofMemory = ends.kind === "read" ? judgeMemory(ends.value, { name, suggest }) : [];
		const [pod] = pods.filter((each) => !each.ready);
		const describe = pod && suggest.kubectl(["describe", "pod", pod.name, "-n", pod.namespace], name);
		if (ready === 0) {
			return {
				text,
				findings: [
					{ reason: "NoAgents", message: `none of its ${pods.length} agents is ready`, fix: describe },
					...ofMemory,
				],
			};
		}
		const findings: FoundProblem[] = [];
		if (pod) {
			const message = `${ready} of its ${pods.length} agents are ready, and ${pod.namespace}/${pod.name} is not`;
			findings.push({ reason: "AgentNotReady", message, fix: describe });
		}
		if (pods.length === 1) {
			const message = "it has a single agent: while that restarts, nothing is evicted in the whole fleet";
			const fix = suggest.kubectl(["scale", "deployment", agentName, "--replicas=2", "-n", place.namespace], name);
			findings.push({ reason: "SingleAgent", message, fix });
		}
		return { text, findings: [...findings, ...ofMemory] };
	});
}

function judgeMemory(
	ends: readonly MemoryEnd[],
	{ name, suggest }: Pick<Place, "name" | "suggest">,
): readonly FoundProblem[] {
	const [first] = ends;
	if (!first) return [];
	const { pod, how, restarts, limit, isOfDeployment } = first;
	const others = ends.length > 1 ? `, and ${ends.length - 1} more` : "";
	const within = limit === undefined ? "" : ` with a limit of ${limit}`;
	const message = `agent ${pod} had too little memory${within} (${how}, ${restarts} ${restarts === 1 ? "restart" : "restarts"})${others}`;
	const more = limit === undefined || !isOfDeployment ? undefined : twice(limit);
	const [namespace = "", podName = ""] = pod.split("/");
	const fix =
		more === undefined
			? suggest.kubectl(["describe", "pod", podName, "-n", namespace], name)
			: suggest.xpdb(["upgrade", `--agent-memory=${more}`], name);
	return [{ reason: "AgentMemory", message, fix }];
}

/** Returns twice the limit in Mi, and at least what an installation takes. */
function twice(limit: string): string | undefined {
	const bytes = memoryBytes(limit);
	return bytes === undefined ? undefined : `${Math.max(Math.ceil((2 * bytes) / 2 ** 20), leastMemoryMi)}Mi`;
}

/** Judges the agents that exist before an installation. */
export function judgeAgentsBefore(agents: Reading<AgentsOfCluster>, { name, suggest }: Place): ClusterCheck {
	return ofReading(agents, ({ namespaces, pods }) => {
		if (pods.length === 0) return { text: "none", findings: [] };
		const message = `${pods.length} of its pods in namespace ${namespaces.join(", ")} are agents already: an installation changes them`;
		const fix = suggest.xpdb(["check"], name);
		return { text: String(pods.length), findings: [{ reason: "AgentsThere", message, fix }] };
	});
}

/** `access` is the connection that a run would use. `each` has every ready agent, asked separately. */
export function judgeAnswers(
	access: AgentAccessResult,
	each: readonly AgentOfCluster[],
	{ name, suggest }: Place,
): ClusterCheck {
	const fix = diagnoseCommand("agent", { context: name, suggest });
	if (access.kind === "none") {
		return {
			text: "no",
			findings: [{ reason: "NoAgents", message: "no agent answers there, because there is none", fix }],
		};
	}
	const silent = (message: string): FoundProblem => ({
		reason: "AgentSilent",
		message,
		fix: renewExpired(message, suggest) ?? fix,
	});
	if (access.kind === "failed") return { text: "?", findings: [silent(access.problem)] };
	const findings = each.flatMap(({ who, said }): readonly FoundProblem[] =>
		said.kind === "read" ? [] : [silent(`${who} does not answer: ${said.why}`)],
	);
	return { text: `${each.length - findings.length} of ${each.length}`, findings };
}

export interface SpeakingAgent {
	readonly version: string;
	readonly features: readonly string[];
}

/** `agents` are the agents of this cluster that answered, and `all` those of the fleet. */
export function judgeVersions(
	agents: readonly SpeakingAgent[],
	all: readonly SpeakingAgent[],
	fix: string,
): ClusterCheck {
	if (agents.length === 0) return notChecked("no agent was reached");
	const findings: FoundProblem[] = [];
	const versions = [...new Set(agents.map(({ version }) => version))].toSorted();
	const unsafe = versions.filter(isUnsafeAgent);
	if (unsafe.length > 0) {
		const whose = unsafe.length === versions.length ? "its agents are" : "some of its agents are";
		const message = `${whose} ${unsafe.join(" and ")}, which can allow more disruptions than a budget permits, in every cluster of the fleet: upgrade them`;
		findings.push({ reason: "AgentUnsafe", message, fix });
	}
	// For these versions, the finding above already suggests the upgrade that also removes the difference.
	const isTold = (version: string): boolean => unsafe.includes(version) && minorsApart(version, clientVersion) <= 1;
	const others = versions.filter((version) => !isSame(version, clientVersion) && !isTold(version));
	if (others.length > 0) {
		const apart = others.some((version) => minorsApart(version, clientVersion) > 1);
		const message = `${others.length === versions.length ? "its agents are" : "some of its agents are"} ${others.join(" and ")}, the plugin is ${clientVersion}${apart ? ": more than one minor version apart, which is not tested" : ""}`;
		findings.push({ reason: apart ? "VersionsApart" : "VersionsDiffer", message, fix });
	} else if (unsafe.length === 0 && versions.length > 1) {
		findings.push({ reason: "VersionsDiffer", message: `its agents differ: ${versions.join(" and ")}`, fix });
	}
	const features = new Set(all.flatMap((agent) => agent.features));
	const lacking = [...features].filter((feature) => agents.some((agent) => !agent.features.includes(feature)));
	if (lacking.length > 0) {
		const message = `its agents do not support ${lacking.toSorted().join(", ")}, others of the fleet do: a budget that uses it is refused`;
		findings.push({ reason: "FeaturesDiffer", message, fix });
	}
	return { text: versions.length === 1 ? withV(versions[0] ?? "?") : "differ", findings };
}

function isSame(a: string, b: string): boolean {
	return withV(a) === withV(b);
}

function withV(version: string): string {
	return version.startsWith("v") ? version : `v${version}`;
}

/** Infinity if one of the texts is not a version, or if the major versions differ. */
function minorsApart(a: string, b: string): number {
	const [left, right] = [a, b].map((version) => /^v?(\d+)\.(\d+)\./.exec(version)?.slice(1).map(Number));
	if (left?.[0] === undefined || left[0] !== right?.[0]) return Number.POSITIVE_INFINITY;
	return Math.abs((left[1] ?? 0) - (right[1] ?? 0));
}

/** The plugin ignores these pods, but a person may mistake them for agents. */
export function judgeLabelledPods(
	labelled: Reading<readonly LabelledPod[]>,
	agents: Reading<AgentsOfCluster>,
	{ name, suggest }: Place,
): ClusterCheck {
	return ofReading(labelled, (pods) =>
		ofReading(agents, ({ namespaces }) => {
			const foreign = pods.filter(({ namespace }) => !namespaces.includes(namespace));
			const [first] = foreign;
			if (!first) return { text: "none", findings: [] };
			const names = foreign.slice(0, 3).map((pod) => `${pod.namespace}/${pod.name}`);
			const more = foreign.length > names.length ? ` and ${foreign.length - names.length} more` : "";
			const message = `pods with the agents' label ${agentLabel}=${agentName} are in other namespaces and are not agents: ${names.join(", ")}${more}`;
			const fix = suggest.kubectl(["get", "pods", "-A", "-l", `${agentLabel}=${agentName}`], name);
			return { text: String(foreign.length), findings: [{ reason: "ForeignAgentPods", message, fix }] };
		}),
	);
}
