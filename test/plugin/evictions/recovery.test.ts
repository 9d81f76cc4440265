import { describe, expect, test } from "vitest";
import { AgentForbiddenError, AgentUnavailableError, FleetsDifferError } from "../../../disruption/errors.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { measureBudgets, waitUntilMeasured, waitUntilRecovered } from "../../../plugin/evictions/recovery.ts";
import type { Fleet } from "../../../plugin/fleet/fleet.ts";
import { Reachability } from "../../../plugin/fleet/reachability.ts";
import { FakeFleet, namespace } from "../../support/fake-fleet.ts";
import { createFastRuntime } from "../../support/fast-runtime.ts";

function newWorld() {
	const fake = new FakeFleet(["eu", "us"]);
	fake.addBudget("db", { maxUnavailable: 1 });
	const [eu, us] = fake.members;
	if (!eu || !us) throw new Error("no members");
	const pod = eu.addPod("db-0");
	us.addPod("db-0");
	const fleet: Fleet = {
		get members() {
			return fake.members;
		},
		descriptions: new Map(),
		problems: [],
		memberOf: (name) => fake.memberOf(name),
		listBudgets: (namespaces) => fake.listBudgets(namespaces),
		reconnect: () => fake.reconnect(),
		contextOf: () => undefined,
		agentNamespaces: () => [],
		leave: () => undefined,
		close: () => undefined,
	};
	const target = { context: eu.context, pod: { metadata: { name: "db-0", namespace, labels: { app: "db" } } } };
	const events: RunEvent[] = [];
	const timeout = new AbortController();
	const stop = new AbortController();
	const emit = (event: RunEvent): void => void events.push(event);
	const runtime = createFastRuntime();
	const deps = {
		fleet,
		timeout: { signal: timeout.signal, text: "9s" },
		stop: stop.signal,
		emit,
		runtime,
		reachability: new Reachability(emit, () => runtime.now()),
		evictions: { healthyAtFirstGrant: (): number | undefined => undefined },
	};
	return { eu, us, pod, fake, fleet, target, deps, events, timeout, stop };
}

describe("waitUntilMeasured()", () => {
	test("asks again where a member gave no answer, or did not agree", async () => {
		const { us, target, deps, events } = newWorld();
		us.onLook = () => {
			if (us.looks === 1) throw new AgentUnavailableError("None came within 5 s", "us");
			if (us.looks <= 3) throw new FleetsDifferError("Cluster ap is neither listed nor forgotten");
		};
		expect(await waitUntilMeasured([target], deps)).toMatchObject({
			kind: "measured",
			before: [{ budget: { name: { name: "db" } }, healthy: 2 }],
		});
		expect(events).toMatchObject([
			{ type: "cluster.unreachable", cluster: "us" },
			{ type: "diagnostic", level: "warning", reason: "FleetsDiffer" },
			{ type: "cluster.recovered", cluster: "us" },
		]);
	});

	test("says who gave no answer when time is up, and that nothing was touched", async () => {
		const { us, target, deps, events, timeout } = newWorld();
		us.isDown = true;
		const measured = waitUntilMeasured([target], deps);
		await expect.poll(() => events.length).toBeGreaterThan(1);
		timeout.abort();
		const message = "could not count the healthy pods within 9s, nothing was touched: cluster us gives no answer";
		expect(await measured).toEqual({ kind: "failed", message, reason: "PeerUnreachable", unreachable: true });
		expect(events.at(-1)).toEqual({ type: "diagnostic", level: "error", reason: "PeerUnreachable", message });
	});

	test("ends at a stop, and does not hide what an agent refuses", async () => {
		const { us, target, deps, stop } = newWorld();
		us.onLook = () => {
			throw new AgentForbiddenError("No right");
		};
		await expect(waitUntilMeasured([target], deps)).rejects.toThrow("No right");
		us.isDown = true;
		stop.abort();
		expect(await waitUntilMeasured([target], deps)).toEqual({ kind: "stopped" });
	});
});

describe("waitUntilRecovered()", () => {
	test("ends when as many pods are healthy as before", async () => {
		const { eu, us, pod, fleet, target, deps, events } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		expect(before).toMatchObject([{ budget: { name: { name: "db" } }, healthy: 2 }]);
		pod.healthy = false;
		us.onLook = () => {
			pod.healthy = true;
		};
		expect(await waitUntilRecovered(before, deps)).toEqual({ kind: "recovered" });
		expect(eu.looks).toBeGreaterThan(1);
		expect(events).toMatchObject([{ type: "budget.changed", budget: expect.stringMatching(/\/db$/), healthy: 2 }]);
	});

	test("waits for what the first grant counted, where the agent's view lagged before the run", async () => {
		const { eu, pod, fleet, target, deps } = newWorld();
		pod.healthy = false;
		const before = await measureBudgets(fleet, [target]);
		expect(before).toMatchObject([{ healthy: 1 }]);
		const looks = eu.looks;
		eu.onLook = () => {
			if (eu.looks === looks + 3) pod.healthy = true;
		};
		const evictions = { healthyAtFirstGrant: (budget: string) => (budget === "shop/db" ? 2 : undefined) };
		expect(await waitUntilRecovered(before, { ...deps, evictions })).toEqual({ kind: "recovered" });
		expect(eu.looks).toBeGreaterThanOrEqual(looks + 3);
	});

	test("waits for no pod that the first grant counted where the expected number is unknown", async () => {
		const { eu, us, fleet, target, deps } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		const look = us.look.bind(us);
		us.look = async (request) => ({ ...(await look(request)), expected: { kind: "unknown", reason: "no scale" } });
		const evictions = { healthyAtFirstGrant: () => 3 };
		const ended = waitUntilRecovered(before, { ...deps, evictions });
		expect(await ended).toEqual({ kind: "recovered" });
		expect(eu.looks).toBeGreaterThan(1);
	});

	test("needs no more than are expected now", async () => {
		const { eu, pod, fleet, target, deps } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		eu.pods.delete(pod.uid);
		eu.expected = 0;
		expect(await waitUntilRecovered(before, deps)).toEqual({ kind: "recovered" });
	});

	test("says which budget has not recovered when time is up", async () => {
		const { pod, fleet, target, deps, events, timeout } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		pod.healthy = false;
		timeout.abort();
		expect(await waitUntilRecovered(before, deps)).toMatchObject({
			kind: "failed",
			message: "budget shop/db has not recovered within 9s",
		});
		const message = "budget shop/db has not recovered within 9s";
		expect(events).toEqual([{ type: "diagnostic", level: "error", reason: "TimedOut", message }]);
	});

	test("waits for members that give no answer, and ends at a stop", async () => {
		const { us, fleet, target, deps, events, stop } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		us.isDown = true;
		const recovered = waitUntilRecovered(before, deps);
		await expect.poll(() => events.length).toBeGreaterThan(0);
		stop.abort();
		expect(await recovered).toEqual({ kind: "stopped" });
	});

	test("says for how long a member has given no answer, and fails for lack of one", async () => {
		const { us, fleet, target, deps, events, timeout } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		us.isDown = true;
		const recovered = waitUntilRecovered(before, deps);
		await expect.poll(() => events.length).toBeGreaterThan(2);
		expect(events.slice(0, 3)).toEqual(
			[0, 1_000, 2_000].map((elapsedMs) => expect.objectContaining({ type: "cluster.unreachable", elapsedMs })),
		);
		timeout.abort();
		expect(await recovered).toEqual({
			kind: "failed",
			message: "budget shop/db has not recovered within 9s: cluster us gives no answer",
			reason: "PeerUnreachable",
			unreachable: true,
		});
	});

	test("goes on with those who are members now, where one was removed meanwhile", async () => {
		const { us, pod, fake, fleet, target, deps, events } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		pod.healthy = false;
		fake.declared = fake.members.filter((member) => member !== us);
		us.onLook = () => {
			pod.healthy = true;
			throw new AgentForbiddenError("Its cluster is no member any more");
		};
		expect(await waitUntilRecovered(before, deps)).toEqual({ kind: "recovered" });
		expect(events).toEqual([
			expect.objectContaining({ type: "diagnostic", message: expect.stringContaining("us was removed") }),
			expect.objectContaining({ type: "budget.changed", healthy: 1 }),
		]);
	});

	test("waits, and says why once, while members do not agree who the fleet is", async () => {
		const { us, fake, fleet, target, deps, events, stop } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		us.onLook = () => {
			if (us.looks > 9) stop.abort();
			throw new FleetsDifferError("Cluster ap is neither listed nor forgotten");
		};
		expect(await waitUntilRecovered(before, deps)).toEqual({ kind: "stopped" });
		const message = "Cluster ap is neither listed nor forgotten";
		expect(events).toEqual([{ type: "diagnostic", level: "warning", reason: "FleetsDiffer", message }]);
		expect(fake.reconnects).toBeGreaterThan(2);
	});

	test("warns of no disagreement that is over when the members are asked who they are", async () => {
		const { us, fake, fleet, target, deps, events } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		const first = us.looks + 1;
		us.onLook = () => {
			if (us.looks === first) throw new FleetsDifferError("Cluster ap is neither listed nor forgotten");
		};
		expect(await waitUntilRecovered(before, deps)).toEqual({ kind: "recovered" });
		expect(fake.reconnects).toBe(1);
		expect(events).toMatchObject([{ type: "budget.changed" }]);
	});

	test("warns only of the change where members disagreed until the fleet had changed", async () => {
		const { us, fake, fleet, target, deps, events } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		us.onLook = () => {
			if (fake.declared.length > 2) return;
			fake.declare("ap");
			throw new FleetsDifferError("Cluster ap is neither listed nor forgotten");
		};
		expect(await waitUntilRecovered(before, deps)).toEqual({ kind: "recovered" });
		expect(events).toEqual([
			expect.objectContaining({ type: "diagnostic", message: expect.stringContaining("ap was added") }),
			expect.objectContaining({ type: "budget.changed" }),
		]);
	});

	test("does not hide what an agent that is still a member refuses", async () => {
		const { us, fleet, target, deps } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		us.onLook = () => {
			throw new AgentForbiddenError("No right");
		};
		await expect(waitUntilRecovered(before, deps)).rejects.toThrow("No right");
	});

	test("fails as a budget that has not recovered where the member was back before", async () => {
		const { us, pod, fleet, target, deps, events, timeout } = newWorld();
		const before = await measureBudgets(fleet, [target]);
		pod.healthy = false;
		us.isDown = true;
		const recovered = waitUntilRecovered(before, deps);
		await expect.poll(() => events.length).toBeGreaterThan(2);
		us.isDown = false;
		await expect.poll(() => events.some(({ type }) => type === "cluster.recovered")).toBe(true);
		timeout.abort();
		expect(await recovered).toMatchObject({ reason: "TimedOut", unreachable: false });
	});
});
