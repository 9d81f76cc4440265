// Tests an agent that asks its peers for grants without the plugin.
import { describe, expect, test } from "vitest";
import { bindToVersion } from "../../disruption/round/bind-to-version.ts";
import { GrantQueue } from "../../disruption/round/grant-queue.ts";
import type { GrantObserver, GrantRequest } from "../../disruption/round/grant-request.ts";
import { Places } from "../../disruption/round/places.ts";
import { budget, selector } from "../support/build-count.ts";
import { newController } from "../support/build-lease.ts";
import { createManualClock, type ManualClock, sleepOn } from "../support/manual-clock.ts";
import { settle, simulateCluster } from "../support/simulated-agent.ts";

const silent: GrantObserver = {
	answered: () => undefined,
	unreachable: () => undefined,
	counted: () => undefined,
	granted: () => undefined,
	queued: () => undefined,
	leaseAcquired: () => undefined,
	leaseReleased: () => undefined,
	leaseLost: () => undefined,
};

/** Creates two clusters with two pods each, under a budget that allows one pod to be down. */
function setUp() {
	const clock = createManualClock();
	const ids = ["eu", "us"];
	const fleet = ids.map((id) => ({ id, name: id, address: `${id}:9443` }));
	const worlds = ids.map((clusterId) => simulateCluster({ clusterId, clock, fleet }));
	const pods = worlds.map(({ server, newPod }) => {
		const controller = newController("db");
		server.putController({ ...controller, namespace: "shop", replicas: 2 });
		return ["db-0", "db-1"].map((name) => newPod(name, { controller }));
	});
	const agents = worlds.map((world) => world.newAgent());
	for (const agent of agents) agent.see();
	let made = 0;
	const queue = new GrantQueue({
		members: () => agents.map(({ local }) => local),
		holder: "system:serviceaccount:kube-system:node-controller",
		runtime: {
			now: () => clock.now(),
			newId: () => `id-${(made += 1)}`,
			sleep: (ms, signal) => sleepOn(clock, ms, signal),
		},
		places: new Places(),
		stop: new AbortController().signal,
		observe: () => silent,
	});
	const ask = (cluster: number, index: number, signal = new AbortController().signal) => {
		const pod = pods[cluster]?.[index];
		if (!pod) throw new Error("no such pod");
		const { namespace, name, uid } = pod;
		const candidate = { clusterId: ids[cluster] ?? "", pod: { namespace, name, uid } };
		const waits: string[] = [];
		const onWait = ({ reason }: { readonly reason: string }) => void waits.push(reason);
		const request: GrantRequest = { candidate, budgets: [{ name: budget, selector }], lane: "eu", signal, onWait };
		return { request, answer: queue.ask(request), waits, pod };
	};
	return { clock, queue, ask };
}

async function pass(clock: ManualClock, turns: number, isOver: () => boolean = () => false): Promise<void> {
	for (let turn = 0; turn < turns && !isOver(); turn += 1) {
		clock.advance(50);
		await settle();
	}
}

/** Advances the clock until the answer arrives. */
async function settled<T>(clock: ManualClock, answer: Promise<T>): Promise<T> {
	let isOver = false;
	void answer.finally(() => (isOver = true));
	await pass(clock, 400, () => isOver);
	return answer;
}

describe("an agent among its peers", () => {
	test("gets a grant, binds it to the version that it has read, and keeps others waiting meanwhile", async () => {
		const { clock, queue, ask } = setUp();
		const first = ask(0, 0);
		const answer = await settled(clock, first.answer);
		if (answer?.kind !== "granted") throw new Error(`it was not granted: ${JSON.stringify(answer)}`);
		const { ticket } = answer.grant;
		const { resourceVersion, labels } = first.pod;
		const read = async () => ({ isTerminating: false, resourceVersion, labels, preActivities: [] });
		// Plays an agent that read the pod before the round, so that the round's commit confirms the version.
		const readDoneAt = ticket.countedAt;
		const bound = await bindToVersion(ticket, read, async () => {
			return readDoneAt <= ticket.countedAt ? undefined : "was read after its grant";
		});
		expect(bound).toBe(resourceVersion);
		const over = new AbortController();
		const second = ask(1, 0, over.signal);
		await pass(clock, 40);
		expect(second.waits).toContain("BudgetExhausted");
		over.abort();
		expect(await second.answer).toBeUndefined();
		expect(second.request.last).toMatchObject({ reason: "BudgetExhausted" });
		await settled(clock, answer.grant.giveBack());
		const third = await settled(clock, ask(1, 1).answer);
		expect(third?.kind).toBe("granted");
		if (third?.kind === "granted") await settled(clock, third.grant.giveBack());
		await settled(clock, queue.settled());
	});
});
