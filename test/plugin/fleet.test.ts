// Which fleet a run believes in, at its start and when it asks anew: over real connections to scripted agents.
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { fleetHash } from "../../disruption/fleet.ts";
import { FleetUncoveredError } from "../../plugin/errors.ts";
import { connectFleet, type Fleet } from "../../plugin/fleet.ts";
import type { AgentDescription } from "../../proto/agent-cluster.ts";
import { type Authority, createAuthority } from "../controlplane/certificates.ts";
import { type ForwardedAgent, startForwardedAgent } from "./forwarded-agent.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

let authority: Authority;
beforeAll(async () => {
	authority = await createAuthority("fleet");
});

/** What the agents of a cluster say while its list has these members, by name. */
function describedAs(name: string, members: readonly string[], address = "agents.example.com:8444"): AgentDescription {
	return {
		clusterId: `id-${name}`,
		clusterName: name,
		version: "0.1.0",
		features: [],
		members: members.map((each) => ({ id: `id-${each}`, name: each, ...(address !== "" && { address }) })),
		fleetHash: fleetHash(members.map((each) => `id-${each}`)),
		leaseNamespace: "xpdb-system",
	};
}

/** Clusters whose agents pass calls on to each other; `says` may be changed while a run goes on. */
function newClusters(names: readonly string[], address?: string) {
	const says = new Map(names.map((name) => [name, describedAs(name, names, address)]));
	const answerOf = (id: string): AgentDescription => {
		const answer = says.get(id.replace("id-", ""));
		if (!answer) throw new AgentUnavailableError(`Cannot reach ${id}`, id);
		return answer;
	};
	const start = async (name: string): Promise<ForwardedAgent> => {
		const describe = (clusterId: string): AgentDescription => answerOf(clusterId === "" ? name : clusterId);
		const agent = await startForwardedAgent({ name, id: `id-${name}`, authority, describe });
		cleanups.push(() => agent[Symbol.asyncDispose]());
		return agent;
	};
	const connect = async (...contexts: readonly string[]): Promise<Fleet> => {
		const agents = await Promise.all(contexts.map(start));
		const { fleet } = await connectFleet(agents.map(({ context }) => context));
		if (!fleet) throw new Error("no fleet was found");
		cleanups.push(() => fleet.close());
		return fleet;
	};
	return { says, connect };
}

const membersOf = ({ members }: Fleet): readonly string[] => members.map(({ name }) => name);

async function refusalOf(attempt: Promise<unknown>): Promise<readonly string[]> {
	const error: unknown = await attempt.then(
		() => undefined,
		(reason: unknown) => reason,
	);
	if (!(error instanceof FleetUncoveredError)) throw error ?? new Error("it was not refused");
	return error.details;
}

describe("connectFleet()", () => {
	test("reaches every member, also those that no context names", async () => {
		const { connect } = newClusters(["ap", "eu", "us"]);
		expect(membersOf(await connect("eu"))).toEqual(["ap", "eu", "us"]);
	});

	test("does not believe an agent that speaks for another cluster than the one it was found in", async () => {
		const { says, connect } = newClusters(["eu", "us"]);
		says.set("eu", describedAs("us", ["eu", "us"]));
		expect(await refusalOf(connect("eu"))).toEqual([
			expect.stringContaining(
				'its agent says that it is cluster "id-us", but the UID of namespace kube-system is "id-eu"',
			),
		]);
	});

	test("needs a context of every member that no other one can reach", async () => {
		const { connect } = newClusters(["eu", "us"], "");
		expect(await refusalOf(connect("eu"))).toEqual([expect.stringContaining("us (id id-us)")]);
		expect(membersOf(await connect("eu", "us"))).toEqual(["eu", "us"]);
	});

	test("refuses a list that a member does not share, also one that no context names", async () => {
		const { says, connect } = newClusters(["ap", "eu", "us"]);
		says.set("us", describedAs("us", ["eu", "us"]));
		const differ = [
			"ap: declares the fleet ap, eu, us",
			"eu: declares the fleet ap, eu, us",
			"us: declares the fleet eu, us",
		];
		expect(await refusalOf(connect("eu"))).toEqual(differ);
		expect(await refusalOf(connect("eu", "us"))).toEqual(differ.slice(1));
	});
});

describe("reconnect()", () => {
	test("goes on with the members of now", async () => {
		const { says, connect } = newClusters(["ap", "eu", "us"]);
		const fleet = await connect("eu");
		for (const name of ["ap", "eu"]) says.set(name, describedAs(name, ["ap", "eu"]));
		await fleet.reconnect();
		expect(membersOf(fleet)).toEqual(["ap", "eu"]);
		expect(fleet.memberOf("eu")?.id).toBe("id-eu");
	});

	for (const [name, of, members] of [
		["leaves the other one out", "eu", ["eu"]],
		["is left out by the other one", "us", ["us"]],
	] as const) {
		test(`leaves everything as it was while contexts disagree: the first ${name}`, async () => {
			const { says, connect } = newClusters(["eu", "us"]);
			const fleet = await connect("eu", "us");
			says.set(of, describedAs(of, members));
			const declared = (cluster: string): string => (cluster === of ? members.join() : "eu, us");
			const differ = ["eu", "us"].map((cluster) => `${cluster}: declares the fleet ${declared(cluster)}`);
			expect(await refusalOf(fleet.reconnect())).toEqual(differ);
			expect(membersOf(fleet)).toEqual(["eu", "us"]);
		});
	}

	test("leaves everything as it was while a member that no context names disagrees", async () => {
		const { says, connect } = newClusters(["ap", "eu", "us"]);
		const fleet = await connect("eu");
		says.set("eu", describedAs("eu", ["ap", "eu"]));
		expect(await refusalOf(fleet.reconnect())).toEqual([
			"ap: declares the fleet ap, eu, us",
			"eu: declares the fleet ap, eu",
		]);
		expect(membersOf(fleet)).toEqual(["ap", "eu", "us"]);
	});

	test("leaves everything as it was while a member gives no answer", async () => {
		const { says, connect } = newClusters(["eu", "us"]);
		const fleet = await connect("eu");
		says.delete("us");
		await expect(fleet.reconnect()).rejects.toThrow(AgentUnavailableError);
		expect(membersOf(fleet)).toEqual(["eu", "us"]);
	});

	test("takes no agent that answers for another cluster than before", async () => {
		const { says, connect } = newClusters(["eu", "us"]);
		const fleet = await connect("eu");
		says.set("eu", describedAs("us", ["eu", "us"]));
		expect(await refusalOf(fleet.reconnect())).toEqual(["eu: its agent answers for another cluster than before"]);
	});
});
