import { describe, expect, test } from "vitest";
import { rolloutProgress, waitForAgents } from "../../../plugin/install/wait-agents.ts";
import { newClient, newContext } from "../../support/build-context.ts";

const status = (fields: Readonly<Record<string, number>>) => ({
	metadata: { generation: 2 },
	spec: { replicas: 2, selector: {}, template: {} },
	status: { observedGeneration: 2, ...fields },
});

describe("rolloutProgress()", () => {
	const rows = [
		{
			says: "agents are about to start",
			of: status({ observedGeneration: 1, updatedReplicas: 2, availableReplicas: 2 }),
		},
		{ says: "0 of 2 agents are up to date", of: status({}) },
		{ says: "1 old agents are about to end", of: status({ replicas: 3, updatedReplicas: 2, availableReplicas: 2 }) },
		{ says: "1 of 2 agents are ready", of: status({ replicas: 2, updatedReplicas: 2, availableReplicas: 1 }) },
		{ says: undefined, of: status({ replicas: 2, updatedReplicas: 2, availableReplicas: 2 }) },
	];
	test.each(rows)("says: $says", ({ says, of }) => {
		expect(rolloutProgress(of)).toBe(says);
	});
});

describe("waitForAgents()", () => {
	test("names after the time what the pods say, and where to look", async () => {
		const waiting = { reason: "ImagePullBackOff", message: "Back-off pulling image" };
		const client = newClient({
			get: () => status({}),
			list: () => [{ status: { containerStatuses: [{ state: { waiting } }] } }],
		});
		const told: string[] = [];
		const waited = waitForAgents(newContext("eu", client), {
			timeoutMs: -1,
			signal: new AbortController().signal,
			tell: (line) => told.push(line),
		});
		await expect(waited).rejects.toThrow(
			"eu: after 0 s 0 of 2 agents are up to date (ImagePullBackOff: Back-off pulling image); see kubectl describe pods -n xpdb-system -l app.kubernetes.io/name=xpdb-agent --context eu",
		);
		expect(told).toEqual(["eu  0 of 2 agents are up to date"]);
	});

	test("names who lets nobody make their pods", async () => {
		const conditions = [{ type: "ReplicaFailure", status: "True", message: 'pods "a" is forbidden: exceeded quota' }];
		const { metadata, spec } = status({});
		const client = newClient({ get: () => ({ metadata, spec, status: { conditions } }), list: () => [] });
		const options = { timeoutMs: -1, signal: new AbortController().signal, tell: () => undefined };
		await expect(waitForAgents(newContext("eu", client), options)).rejects.toThrow(
			'(pods "a" is forbidden: exceeded quota); see',
		);
	});
});
