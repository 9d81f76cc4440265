import { describe, expect, test } from "vitest";
import type { AcquireRequest, Acquisition } from "../../../disruption/cluster.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { runRound } from "../../../disruption/round.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { withLeaseEvents } from "../../../plugin/fleet/lease-events.ts";
import type { AgentCluster } from "../../../proto/agent-cluster.ts";
import { databaseSelector, FakeFleet, namespace } from "../../support/fake-fleet.ts";
import { createFastRuntime } from "../../support/fast-runtime.ts";

const budget = { namespace, name: "db" };
const options = { wait: false, signal: new AbortController().signal };

function setUp() {
	const fleet = new FakeFleet(["eu", "us"]);
	fleet.addBudget("db", { maxUnavailable: 1 });
	const events: RunEvent[] = [];
	let at = 0;
	const tellers = fleet.members.map((member) =>
		withLeaseEvents(member, {
			emit: (event) => events.push(event),
			now: () => {
				at += 10;
				return at;
			},
		}),
	);
	return { fleet, tellers, events, first: (): AgentCluster => tellers[0] as AgentCluster };
}

function request(nonce: string): AcquireRequest {
	return { budget, selector: databaseSelector, holder: "drain-7f3c", nonce, candidates: [] };
}

async function acquired(member: AgentCluster, nonce: string): Promise<Acquisition> {
	const outcome = await member.acquire(request(nonce), options);
	if (outcome.kind !== "acquired") throw new Error("the Lease is held");
	return outcome.acquisition;
}

const toldOf = (events: readonly RunEvent[]) =>
	events.map((event) => `${event.type} ${"cluster" in event ? event.cluster : ""}`);

describe("withLeaseEvents()", () => {
	test.each([
		["granted", true],
		["refused", false],
	])("tells of every Lease of a round: %s", async (_, healthy) => {
		const { fleet, tellers, events } = setUp();
		const eu = fleet.member("eu");
		const pod = eu.addPod("db-0");
		fleet.member("us").addPod("db-1", { healthy });
		const outcome = await runRound(
			{
				clusters: tellers,
				budgets: [{ name: budget, selector: databaseSelector }],
				holder: "drain-7f3c",
				candidates: [{ clusterId: eu.id, pod: { namespace, name: pod.name, uid: pod.uid } }],
				signal: options.signal,
			},
			createFastRuntime(),
		);
		expect(outcome).toMatchObject({ kind: "decided", verdicts: [{ kind: healthy ? "granted" : "waiting" }] });
		expect(toldOf(events).toSorted()).toEqual([
			"lease.acquired eu",
			"lease.acquired us",
			"lease.released eu",
			"lease.released us",
		]);
		expect(events[0]).toMatchObject({ budget: "shop/db", holder: "drain-7f3c", ttlSeconds: 10 });
	});

	test("one that was committed is not told again when it is released", async () => {
		const { events, first } = setUp();
		const acquisition = await acquired(first(), "a");
		await first().commit(acquisition, []);
		await first().release(acquisition);
		expect(events.slice(1)).toEqual([{ type: "lease.released", budget: "shop/db", cluster: "eu", heldMs: 20 }]);
	});

	test.each([
		["a renewal", (member: AgentCluster, acquisition: Acquisition) => member.renew(acquisition)],
		["a count", (member: AgentCluster, acquisition: Acquisition) => member.count(acquisition, request("a"))],
		["a commit", (member: AgentCluster, acquisition: Acquisition) => member.commit(acquisition, [])],
	])("%s finds that it is lost, which is told once", async (_, ask) => {
		const { fleet, events, first } = setUp();
		const acquisition = await acquired(first(), "a");
		await fleet.member("eu").release(acquisition);
		for (let time = 0; time < 2; time += 1) await ask(first(), acquisition).catch(() => undefined);
		await first().release(acquisition);
		expect(toldOf(events)).toEqual(["lease.acquired eu", "lease.lost eu"]);
		expect(events[1]).toMatchObject({ budget: "shop/db", message: "not held" });
	});

	test("nothing is told of one that is held by others, nor of one that could not be given back", async () => {
		const { fleet, events, first } = setUp();
		const acquisition = await acquired(first(), "a");
		expect(await first().acquire(request("b"), options)).toMatchObject({ kind: "held" });
		fleet.member("eu").release = async () => {
			throw new AgentUnavailableError("Cannot call Release", "eu");
		};
		await expect(first().release(acquisition)).rejects.toThrow("Cannot call Release");
		expect(toldOf(events)).toEqual(["lease.acquired eu"]);
	});

	test("all other answers are the member's own", async () => {
		const { fleet, first } = setUp();
		expect(first().id).toBe("id-eu");
		expect(await first().listBudgets([])).toEqual(await fleet.member("eu").listBudgets());
		expect(await first().confirm(budget, ["no-such-id"])).toBe(false);
		expect(await first().describe()).toEqual(fleet.member("eu").description);
		expect(await first().look({ budget, selector: databaseSelector, candidates: [] })).toMatchObject({ healthy: 0 });
		await first().cancel(budget, [], { sent: true });
	});
});
