import { credentials } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import { AgentServiceClient } from "../../proto/gen/xpdb/v1/agent.ts";
import { describeAgent } from "../../proto/remote-cluster.ts";
import { descriptionMessage } from "../../proto/wire-description.ts";
import * as samples from "../support/samples.ts";
import { startScriptedAgent } from "../support/scripted-agent.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

describe("describeAgent()", () => {
	test("asks an agent whose cluster is not known yet", async () => {
		const agent = await startScriptedAgent({
			describe: ({ request }, answer) => {
				expect(request.clusterId).toBe("");
				answer(null, descriptionMessage(samples.description));
			},
		});
		cleanups.push(() => agent[Symbol.asyncDispose]());
		const client = new AgentServiceClient(agent.address, credentials.createInsecure());
		cleanups.push(() => client.close());
		expect(await describeAgent(client, { name: "c1" })).toEqual(samples.description);
	});

	test("asks for budgets and for the other members, and takes no budgets of another cluster", async () => {
		let told = descriptionMessage(samples.introduction);
		const agent = await startScriptedAgent({
			describe: ({ request }, answer) => {
				expect(request).toEqual({ clusterId: "", budgetsOf: { names: ["shop"] }, others: true });
				answer(null, told);
			},
		});
		cleanups.push(() => agent[Symbol.asyncDispose]());
		const client = new AgentServiceClient(agent.address, credentials.createInsecure());
		cleanups.push(() => client.close());
		const question = { name: "c1", budgetsOf: ["shop"], others: true };
		expect(await describeAgent(client, question)).toEqual(samples.introduction);
		const [other] = told.others;
		if (!other) throw new Error("no other member");
		told = { ...told, others: [{ ...other, budgets: told.budgets }] };
		await expect(describeAgent(client, question)).rejects.toThrow(
			`cannot use the answer to Describe of cluster "c1": cannot read message: budgets are those of cluster id "${samples.clusterId}", not of "id-2"`,
		);
	});
});
