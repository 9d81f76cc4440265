import { describe, expect, test } from "vitest";
import { agentSettingsLines, settingsWarnings } from "../../../plugin/install/agent-settings/agent-settings-lines.ts";
import {
	type AgentSettings,
	leftSettings,
	readAgentSettings,
} from "../../../plugin/install/agent-settings/agent-settings.ts";
import { planAgentSettings } from "../../../plugin/install/agent-settings/plan-agent-settings.ts";
import type { ClusterObject } from "../../../plugin/install/cluster-object.ts";
import type { FoundCluster } from "../../../plugin/install/found-cluster.ts";
import { planFleet } from "../../../plugin/install/planned-fleet.ts";
import { newContext } from "../../support/build-context.ts";
import { newFoundCluster } from "../../support/build-found-cluster.ts";
import { newSettingsChoice } from "../../support/settings-choice.ts";

const members = [
	{ context: "eu", names: ["eu"] },
	{ context: "arn:aws/us", names: ["us", "arn:aws/us"] },
];
const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } };

function change(texts: Parameters<typeof newSettingsChoice>[0]) {
	const planned = planAgentSettings(members, newSettingsChoice(texts, { "a.yaml": affinity }));
	return { eu: planned.get("eu"), us: planned.get("arn:aws/us") };
}

function plan(found: readonly FoundCluster[], texts: Parameters<typeof newSettingsChoice>[0] = {}) {
	const { clusters } = planFleet(found, {
		image: undefined,
		agentSettings: newSettingsChoice(texts),
		operators: { groups: [], teams: [] },
		addresses: new Map(),
		expose: { kinds: [], classes: [], annotations: [], sources: [] },
	});
	return { clusters, deployments: clusters.map(({ objects }) => deploymentOf(objects)) };
}

function deploymentOf(objects: readonly ClusterObject[]): ClusterObject {
	const deployment = objects.find(({ kind }) => kind === "Deployment");
	if (!deployment) throw new Error("there is no Deployment");
	return deployment;
}

const found = (name: string, agentSettings: AgentSettings = {}) =>
	newFoundCluster(newContext(name), { image: "example.com/agent:1", agentSettings });

const all: AgentSettings = {
	memory: { request: "512Mi", limit: "512Mi" },
	cpu: "100m",
	replicas: 3,
	nodeSelector: { pool: "infra" },
	tolerations: [{ key: "dedicated", operator: "Equal", value: "infra", effect: "NoSchedule" }],
	affinity,
	priorityClass: "system-cluster-critical",
	annotations: { "example.com/scrape": "a=b" },
	imagePullPolicy: "Always",
	imagePullSecrets: ["login"],
};

describe("planAgentSettings()", () => {
	test("reads what is for all members, and for one, which replaces it there", () => {
		expect(
			change({
				memory: ["512Mi", "us=1Gi"],
				cpu: ["0.5"],
				replicas: ["arn:aws/us=3"],
				nodeSelector: ["disk=ssd", "node.example.com/infra=", "eu=kubernetes.io/os=linux", "eu=pool=infra"],
				tolerations: ["dedicated=infra:NoSchedule", "gpu", "us=*"],
				affinity: ["eu=a.yaml"],
				annotations: ["example.com/scrape=a=b"],
				imagePullPolicy: ["Never"],
				imagePullSecrets: ["us=login"],
			}),
		).toEqual({
			eu: {
				memory: { request: "512Mi", limit: "512Mi" },
				cpu: "0.5",
				nodeSelector: { "kubernetes.io/os": "linux", pool: "infra" },
				tolerations: [
					{ key: "dedicated", operator: "Equal", value: "infra", effect: "NoSchedule" },
					{ key: "gpu", operator: "Exists" },
				],
				affinity,
				annotations: { "example.com/scrape": "a=b" },
				imagePullPolicy: "Never",
			},
			us: {
				memory: { request: "1Gi", limit: "1Gi" },
				cpu: "0.5",
				replicas: 3,
				nodeSelector: { disk: "ssd", "node.example.com/infra": "" },
				tolerations: [{ operator: "Exists" }],
				annotations: { "example.com/scrape": "a=b" },
				imagePullPolicy: "Never",
				imagePullSecrets: ["login"],
			},
		});
	});

	test("gives back what is shipped where nothing stands behind the =", () => {
		const { eu, us } = change({ memory: ["eu="], nodeSelector: [""] });
		expect(Object.entries(eu ?? {})).toEqual([
			["memory", undefined],
			["nodeSelector", undefined],
		]);
		expect(Object.keys(us ?? {})).toEqual(["nodeSelector"]);
	});

	test.each([
		{ texts: { memory: ["lots"] }, says: '--agent-memory cannot be used: "lots"' },
		{ texts: { memory: ["512"] }, says: '--agent-memory cannot be used: "512"' },
		{ texts: { memory: ["160Mi"] }, says: '--agent-memory cannot be used: "160Mi"' },
		{ texts: { memory: ["512Mi", "1Gi"] }, says: "--agent-memory says two things of all members" },
		{ texts: { memory: ["ap=512Mi"] }, says: '--agent-memory names no member that has a context here: "ap=512Mi"' },
		{ texts: { cpu: ["0"] }, says: '--agent-cpu cannot be used: "0"' },
		{ texts: { cpu: ["many"] }, says: '--agent-cpu cannot be used: "many"' },
		{ texts: { replicas: ["0"] }, says: '--agent-replicas cannot be used: "0"' },
		{ texts: { replicas: ["1.5"] }, says: '--agent-replicas cannot be used: "1.5"' },
		{ texts: { nodeSelector: ["ssd"] }, says: '--agent-node-selector cannot be used: "ssd"' },
		{ texts: { nodeSelector: ["a=b", "a=c"] }, says: '--agent-node-selector cannot be used: "a=b", "a=c"' },
		{ texts: { nodeSelector: ["ap=disk=ssd"] }, says: "--agent-node-selector names no member that has a context here" },
		{ texts: { nodeSelector: ["uss="] }, says: "--agent-node-selector names no member that has a context here" },
		{ texts: { tolerations: ["uss="] }, says: "--agent-tolerations names no member that has a context here" },
		{
			texts: { tolerations: ["uss=gpu:NoSchedule"] },
			says: "--agent-tolerations names no member that has a context here",
		},
		{ texts: { tolerations: ["a:Never"] }, says: '--agent-tolerations cannot be used: "a:Never"' },
		{ texts: { affinity: ["b.yaml"] }, says: '--agent-affinity cannot be used: "b.yaml"' },
		{ texts: { priorityClass: ["High"] }, says: '--agent-priority-class cannot be used: "High"' },
		{ texts: { annotations: ["scrape=true"] }, says: "--agent-annotations names no member that has a context here" },
		{ texts: { imagePullPolicy: ["always"] }, says: '--image-pull-policy cannot be used: "always"' },
		{ texts: { imagePullSecrets: ["../x"] }, says: '--image-pull-secret cannot be used: "../x"' },
		{ texts: { tolerations: ["", "gpu"] }, says: '--agent-tolerations cannot be used: "", "gpu"' },
	])("refuses $texts", ({ texts, says }) => {
		expect(() => change(texts)).toThrow(says);
	});
});

describe("the settings of a Deployment", () => {
	test("are read back as they were written", () => {
		const { deployments } = plan([found("eu", all)]);
		expect(readAgentSettings(deployments[0])).toEqual(all);
	});

	test("are none where it is as xpdb ships it, with what the API server and kubectl add", () => {
		const [deployment] = plan([found("eu")]).deployments;
		const text = JSON.stringify(deployment)
			.replace('"name":"agent",', '"name":"agent","imagePullPolicy":"IfNotPresent",')
			.replace(
				'"template":{"metadata":{',
				'"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"},',
			);
		expect(text).toContain("restartedAt");
		expect(text).toContain("IfNotPresent");
		expect(readAgentSettings(JSON.parse(text))).toEqual({});
		expect(readAgentSettings(undefined)).toEqual({});
	});

	test("stay as they are without flags, and go to a cluster that joins", () => {
		const byHand: AgentSettings = { memory: { request: "80Mi", limit: "1Gi" }, replicas: 3 };
		const joining = newFoundCluster(newContext("ap"));
		const { clusters, deployments } = plan([found("eu", byHand), joining], { cpu: ["ap=1"] });
		expect(deployments.map(readAgentSettings)).toEqual([byHand, { memory: byHand.memory, cpu: "1" }]);
		expect(agentSettingsLines(clusters)).toEqual([
			"Agents of eu: memory 1Gi, 80Mi of it requested (kept), 3 replicas (kept)",
			"Agents of ap: memory 1Gi, 80Mi of it requested (as in the other clusters), CPU 1",
		]);
	});

	test("are told once for clusters that are alike, and not at all where they are as shipped", () => {
		const { clusters } = plan([found("eu", { replicas: 3 }), found("us"), found("ap", { cpu: "1" })], {
			replicas: ["1", "ap="],
			cpu: [""],
			nodeSelector: ["disk=ssd"],
		});
		expect(agentSettingsLines(clusters)).toEqual([
			'Agents of eu, us: 1 replica, node selector {"disk":"ssd"}',
			'Agents of ap: node selector {"disk":"ssd"}',
		]);
		expect(settingsWarnings(clusters)).toEqual([
			"eu, us have one agent: nothing is evicted in the whole fleet while it restarts. Use --agent-replicas=2",
		]);
		expect(agentSettingsLines(plan([found("eu")]).clusters)).toEqual([]);
	});

	test("are none where an older version has shipped the value", () => {
		const older = plan([found("eu", { memory: { request: "80Mi", limit: "160Mi" } })]).deployments[0];
		expect(readAgentSettings(older)).toEqual({});
	});

	test("that leave the agents weak are warned of, and none at all is refused", () => {
		const small: AgentSettings = { memory: { request: "80Mi", limit: "128Mi" } };
		expect(settingsWarnings(plan([found("eu", small), found("us")]).clusters)).toEqual([
			"the agents of eu have less than 224Mi of memory: a flood of connections can end them. Use --agent-memory=224Mi",
		]);
		expect(() => plan([found("eu", { replicas: 0 })])).toThrow("eu: its Deployment xpdb-agent has 0 replicas");
		expect(plan([found("eu", { replicas: 0 })], { replicas: ["2"] }).clusters[0]?.settings.replicas).toBe(2);
	});

	test("keep all pull secrets, and take the agent's container by its name", () => {
		const settings: AgentSettings = { imagePullSecrets: ["a", "b"], cpu: "1" };
		const [deployment] = plan([found("eu", settings)]).deployments;
		const beside = JSON.stringify(deployment).replace('"containers":[', '"containers":[{"name":"proxy"},');
		expect(readAgentSettings(JSON.parse(beside))).toEqual(settings);
	});

	test("that stay although they were reset are found", () => {
		const [deployment] = plan([found("eu", all)]).deployments;
		expect(leftSettings(deployment, { ...all, nodeSelector: undefined as never })).toEqual(["nodeSelector"]);
		expect(leftSettings(deployment, all)).toEqual([]);
	});
});
