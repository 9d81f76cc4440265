import { describe, expect, test } from "vitest";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { tellUnrecovered } from "../../../plugin/run/tell-unrecovered.ts";
import type { AgentDescription } from "../../../proto/agent-cluster.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";
import { fullDescription } from "../../support/samples.ts";

function newWorld() {
	const fake = new FakeFleet(["eu", "us"]);
	fake.addBudget("db", { maxUnavailable: 1 });
	const [eu, us] = fake.members;
	if (!eu || !us) throw new Error("no members");
	const pods = [eu.addPod("db-0"), eu.addPod("db-1"), us.addPod("db-0")];
	const descriptions = new Map<string, AgentDescription>(fake.members.map(({ id }) => [id, fullDescription]));
	const ask = async (budgets: readonly string[] = ["shop/db"], sleep?: (ms: number) => Promise<void>) => {
		const events: RunEvent[] = [];
		await tellUnrecovered({
			fleet: { members: fake.members, descriptions, listBudgets: (namespaces) => fake.listBudgets(namespaces) },
			budgets,
			emit: (event) => void events.push(event),
			holder: "alice@laptop drain 7f3c2a",
			wallClock: () => 0,
			runtime: { sleep: sleep ?? (() => new Promise(() => undefined)) },
		});
		return events;
	};
	return { fake, eu, us, pods, ask };
}

describe("tellUnrecovered()", () => {
	test("says nothing of a budget that has all its pods", async () => {
		expect(await newWorld().ask()).toEqual([]);
	});

	test("names the pods that are down, and where they are", async () => {
		const { pods, ask } = newWorld();
		const [pod] = pods;
		if (pod) pod.healthy = false;
		expect(await ask()).toEqual([
			{
				type: "budget.notRecovered",
				budget: "shop/db",
				healthy: 2,
				expected: 3,
				missing: 0,
				usedBy: [expect.objectContaining({ cluster: "eu", namespace: "shop", pod: "db-0", why: "NotReady" })],
				message: "not recovered: shop/db 2/3, shop/db-0 in eu: not ready",
			},
		]);
	});

	test("counts those that are not made again", async () => {
		const { us, ask } = newWorld();
		us.expected += 1;
		expect(await ask()).toMatchObject([
			{ healthy: 3, expected: 4, missing: 1, message: "not recovered: shop/db 3/4, 1 pod missing in us" },
		]);
	});

	test("asks nobody where nothing was evicted under a budget, and nothing of one that was deleted", async () => {
		const { us, ask } = newWorld();
		us.isDown = true;
		expect(await ask([])).toEqual([]);
		us.isDown = false;
		expect(await ask(["shop/gone"])).toEqual([]);
	});

	test("says that nobody knows where a member does not answer, be it at once or in time", async () => {
		const { us, ask } = newWorld();
		us.onLook = () => {
			throw new AgentUnavailableError("no answer", "us");
		};
		expect(await ask()).toMatchObject([
			{
				missing: 0,
				message: expect.stringMatching(/^not known whether budget shop\/db has recovered: us: .*no answer/),
			},
		]);
		us.onLook = () => undefined;
		us.isDown = true;
		expect(await ask()).toMatchObject([{ message: expect.stringMatching(/^not known whether budget shop\/db/) }]);
		const late = newWorld();
		expect(await late.ask(undefined, () => Promise.resolve())).toMatchObject([
			{ message: "not known whether budget shop/db has recovered: no answer within 3 s" },
		]);
	});
});
