// Tests how a run discovers its fleet: what it asks of which agent, and what it accepts from one agent about others.
import { credentials } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import { assembleFleet, type Fleet } from "../../../plugin/fleet/fleet.ts";
import type { AgentDescription, BudgetList, Introduction } from "../../../proto/agent-cluster.ts";
import { AgentServiceClient } from "../../../proto/gen/xpdb/v1/agent.ts";
import { budgetListMessage } from "../../../proto/wire-calls.ts";
import { descriptionMessage } from "../../../proto/wire-description.ts";
import { newClient, newContext } from "../../support/build-context.ts";
import { startScriptedAgent } from "../../support/scripted-agent.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const names = ["ap", "eu", "us"];
const members = names.map((name) => ({ id: `${name}-id`, name, address: `${name}:8444` }));
const hash = fleetHash(members.map(({ id }) => id));

function described(name: string, change: Partial<AgentDescription> = {}): AgentDescription {
	return {
		clusterId: `${name}-id`,
		clusterName: name,
		version: "0.1.0",
		features: [],
		members,
		fleetHash: hash,
		leaseNamespace: "xpdb-system",
		...change,
	};
}

function listOf(name: string, ...budgets: readonly string[]): BudgetList {
	const spec = { maxUnavailable: 1, selector: {} };
	return {
		clusterId: `${name}-id`,
		fleetHash: hash,
		budgets: budgets.map((budget) => ({ name: { namespace: "shop", name: budget }, spec })),
	};
}

/** Starts the agents of a context, which forward requests to all members. `asked` has the requests after the discovery. */
async function meet(description: Introduction, { namespaces, mayMiss = false, silent = [], missed = [] }: Meet = {}) {
	const asked: string[] = [];
	const nameOf = (id: string) => members.find((member) => member.id === id)?.name ?? id;
	const agent = await startScriptedAgent({
		describe({ request: { clusterId } }, answer) {
			asked.push(`Describe ${nameOf(clusterId)}`);
			if (silent.includes(nameOf(clusterId))) answer({ code: 14, details: "gone" });
			else answer(null, descriptionMessage(described(nameOf(clusterId))));
		},
		listBudgets({ request: { clusterId } }, answer) {
			asked.push(`ListBudgets ${nameOf(clusterId)}`);
			answer(null, budgetListMessage(listOf(nameOf(clusterId), "asked-for")));
		},
	});
	cleanups.push(() => agent[Symbol.asyncDispose]());
	const client = new AgentServiceClient(agent.address, credentials.createInsecure());
	const access = {
		kind: "reached",
		context: newContext(description.clusterName, newClient({ get: () => ({}) })),
		description,
		askedAt: 10,
		tookMs: 5,
		client,
		namespaces: ["xpdb-system"],
		leave: () => undefined,
		close: () => client.close(),
	} as const;
	const fleet = await assembleFleet([access], { mayMiss, namespaces, missed }).catch((error: unknown) => {
		client.close();
		throw error;
	});
	cleanups.push(() => fleet.close());
	return { fleet, asked };
}

interface Meet {
	readonly namespaces?: readonly string[];
	readonly mayMiss?: boolean;
	readonly silent?: readonly string[];
	readonly missed?: readonly string[];
}

const listed = ({ listedAhead }: Fleet): Readonly<Record<string, readonly string[]>> =>
	Object.fromEntries(
		(listedAhead?.members ?? []).map(({ clusterName, budgets }) => [clusterName, budgets.map(({ name }) => name.name)]),
	);

test("a table's fleet names the contexts that it was met without beside the members that give no answer", async () => {
	const missed = ["us-admin: no connection within 10s"];
	const { fleet } = await meet(described("eu"), { mayMiss: true, silent: ["us"], missed });
	expect(fleet.problems).toEqual([missed[0], expect.stringMatching(/^us: /)]);
});

describe("assembleFleet()", () => {
	test("asks nobody again where one agent told what all of them say and list", async () => {
		const { fleet, asked } = await meet(
			{
				...described("eu", { budgets: listOf("eu", "db") }),
				others: [
					described("us", { budgets: listOf("us") }),
					described("ap", { version: "0.2.0", budgets: listOf("ap", "db", "web") }),
				],
			},
			{ namespaces: ["shop"] },
		);
		expect(asked).toEqual([]);
		expect(fleet.members.map(({ name }) => name)).toEqual(names);
		expect([...fleet.descriptions].map(([id, { version }]) => `${id} ${version}`).toSorted()).toEqual([
			"ap-id 0.2.0",
			"eu-id 0.1.0",
			"us-id 0.1.0",
		]);
		expect(listed(fleet)).toEqual({ ap: ["db", "web"], eu: ["db"], us: [] });
		// The list is as old as its request: a slow answer is not taken for a fresh one.
		expect(fleet.listedAhead).toMatchObject({ askedAt: 10, namespaces: ["shop"] });
		expect(fleet.listedAhead?.members[0]).toMatchObject({ fleetHash: hash, tookMs: 5 });
	});

	test("asks each member that was not heard, and each for its budgets that has not told them", async () => {
		const { fleet, asked } = await meet(
			{ ...described("eu", { budgets: listOf("eu", "db") }), others: [described("us")] },
			{ namespaces: ["shop"] },
		);
		expect(asked.toSorted()).toEqual(["Describe ap", "ListBudgets ap", "ListBudgets us"]);
		expect(listed(fleet)).toEqual({ ap: ["asked-for"], eu: ["db"], us: ["asked-for"] });
		expect(fleet.listedAhead?.askedAt).toBe(10);
	});

	test("asks an older agent, which tells neither, as ever", async () => {
		const { fleet, asked } = await meet(described("eu"), { namespaces: ["shop"] });
		expect(asked.toSorted()).toEqual(["Describe ap", "Describe us", ...names.map((name) => `ListBudgets ${name}`)]);
		expect(fleet.members).toHaveLength(3);
	});

	test("covers no fleet with a member that was not heard and does not answer either", async () => {
		const meeting = meet({ ...described("eu"), others: [described("us")] }, { silent: ["ap"] });
		await expect(meeting).rejects.toThrow(
			"cannot reach every cluster of the fleet: some members do not answer, nothing was touched",
		);
	});

	test("refuses another list, and a member that is missing from it, told by another member's agent", async () => {
		const short = members.slice(1);
		for (const [other, problem] of [
			[
				described("us", { members: short, fleetHash: fleetHash(short.map(({ id }) => id)) }),
				"us: declares the fleet eu, us",
			],
			[described("us", { unresolved: [{ id: "sa-id", name: "sa" }] }), 'us: knows "sa" (id sa-id) as a member'],
		] as const) {
			const meeting = meet({ ...described("eu"), others: [other, described("ap")] });
			await expect(meeting).rejects.toMatchObject({
				details: expect.arrayContaining([expect.stringContaining(problem)]),
			});
		}
	});

	test("takes nobody's word for the agent itself, nor for who is no member", async () => {
		const liar = described("eu", { version: "9.9.9", budgets: listOf("eu") });
		const { fleet } = await meet(
			{
				...described("eu", { budgets: listOf("eu", "db") }),
				others: [liar, described("us"), described("ap"), described("sa")],
			},
			{ namespaces: ["shop"] },
		);
		expect(fleet.descriptions.get("eu-id")?.version).toBe("0.1.0");
		expect(fleet.descriptions.has("sa-id")).toBe(false);
		expect(listed(fleet)["eu"]).toEqual(["db"]);
	});
});
