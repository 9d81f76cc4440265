import { describe, expect, test } from "vitest";
import type { AcquireOptions, Cluster, PlaceInLine } from "../../../disruption/budget/cluster.ts";
import { AgentUnavailableError, LeaseLostError } from "../../../disruption/errors.ts";
import { acquired as taken } from "../../../disruption/lease/lease.ts";
import type { AgentCluster } from "../../../proto/agent-cluster.ts";
import { budget } from "../../support/build-count.ts";
import { acquired } from "../../support/samples.ts";
import {
	asks,
	atOnce,
	losing,
	type SimulatedAgent,
	settle,
	simulateCluster,
	unavailable,
} from "../../support/simulated-agent.ts";

function waiting(signal: AbortSignal = new AbortController().signal, places: PlaceInLine[] = []): AcquireOptions {
	return { wait: true, signal, onQueued: (place) => void places.push(place) };
}

async function setUp(options: Parameters<ReturnType<typeof simulateCluster>["newAgent"]>[0] = {}) {
	const world = simulateCluster();
	const agent = world.newAgent(options);
	const first = await agent.local.acquireHere(asks("first"), atOnce());
	if (first.kind !== "acquired") throw new Error("the Lease is free");
	return { ...world, agent, first: first.acquisition, holder: () => world.lease().holder };
}

describe("LocalCluster with a line", () => {
	test("hands over at once, and says that the new holder has two seconds to show life", async () => {
		const { agent, first, lease } = await setUp();
		const second = agent.local.acquire(asks("second"), waiting());
		await settle();
		await agent.local.release(first);
		expect(await second).toMatchObject({ kind: "acquired", leaseDurationMs: 2_000 });
		expect(lease()).toMatchObject({ holder: "drain of second", durationMs: 10_000 });
	});

	test("hands over when a commit gives the Lease back", async () => {
		const { agent, first } = await setUp();
		const second = agent.local.acquire(asks("second"), waiting());
		await settle();
		await agent.local.commit(first, []);
		expect(await second).toMatchObject({ kind: "acquired" });
	});

	test("hands over when the watch shows that another agent gave the Lease back", async () => {
		const { agent, first, newAgent, lease } = await setUp();
		const other = newAgent();
		const second = agent.local.acquire(asks("second"), waiting());
		await settle();
		await other.local.release(first);
		agent.local.leaseChanged(lease().name);
		expect(await second).toMatchObject({ kind: "acquired" });
	});

	test("hands over when the holder has shown no life for its time", async () => {
		const { agent, clock } = await setUp();
		const second = agent.local.acquire(asks("second"), waiting());
		await settle();
		for (let seconds = 0; seconds <= 10; seconds += 1) {
			clock.advance(1_000);
			agent.live();
			await settle();
		}
		expect(await second).toMatchObject({ kind: "acquired" });
	});

	test("does not hand over while the holder renews, however long it takes", async () => {
		const { agent, first, clock } = await setUp();
		const places: PlaceInLine[] = [];
		const second = agent.local.acquire(asks("second"), waiting(undefined, places));
		for (let seconds = 0; seconds < 30; seconds += 1) {
			clock.advance(1_000);
			agent.live();
			if (seconds % 3 === 0) await agent.local.renew(first);
			await settle();
		}
		expect(places.at(-1)).toMatchObject({ position: 1, holder: "drain of first", heldForMs: 30_000 });
		await agent.local.release(first);
		await second;
	});

	test("knows how many wait", async () => {
		const { agent, first } = await setUp();
		const second = agent.local.acquire(asks("second"), waiting());
		await settle();
		expect(agent.local.lineLength(budget)).toBe(1);
		await agent.local.release(first);
		await second;
		expect(agent.local.lineLength(budget)).toBe(0);
	});
});

describe("LocalCluster and whoever it handed a Lease to", () => {
	/** Hands the Lease over to "second", which waits in line. The test decides when its answer is sent. */
	async function handedOver() {
		const world = await setUp();
		const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
		const second = world.agent.local.acquire(asks("second"), { ...waiting(), answered });
		await settle();
		await world.agent.local.release(world.first);
		const outcome = await second;
		if (outcome.kind !== "acquired") throw new Error("the line ended");
		const pass = async (ms: number): Promise<void> => {
			await settle();
			world.clock.advance(ms);
			await settle();
		};
		return { ...world, answer, pass, acquisition: outcome.acquisition };
	}

	test("gives it back two seconds after the answer went out, if they show no life", async () => {
		const { answer, pass, holder } = await handedOver();
		answer();
		await pass(1_999);
		expect(holder()).toBe("drain of second");
		await pass(1);
		expect(holder()).toBe("");
	});

	test("hands it to the next in line then", async () => {
		const { answer, pass, agent, holder } = await handedOver();
		const third = agent.local.acquire(asks("third"), waiting());
		answer();
		await pass(2_000);
		expect(await third).toMatchObject({ kind: "acquired" });
		expect(holder()).toBe("drain of third");
	});

	test("does not count the time until the answer went out", async () => {
		const { answer, pass, holder } = await handedOver();
		await pass(5_000);
		answer();
		await pass(1_999);
		expect(holder()).toBe("drain of second");
	});

	test("leaves it to a holder that renewed, through whichever agent", async () => {
		const { answer, pass, acquisition, newAgent, holder } = await handedOver();
		answer();
		await newAgent().local.renew(acquisition);
		await pass(9_000);
		expect(holder()).toBe("drain of second");
	});

	test("does nothing more to one that was committed", async () => {
		const { answer, pass, acquisition, agent, lease } = await handedOver();
		answer();
		await agent.local.commit(acquisition, []);
		const { resourceVersion } = lease();
		await pass(9_000);
		expect(lease().resourceVersion).toBe(resourceVersion);
	});

	test("does nothing where it was given back before the answer went out", async () => {
		const { answer, pass, acquisition, agent } = await handedOver();
		await agent.local.release(acquisition);
		answer();
		const before = agent.requests.length;
		await pass(9_000);
		expect(agent.requests.slice(before)).toEqual([]);
	});

	test("leaves it to whoever took it since", async () => {
		const { answer, pass, agent, acquisition, holder } = await handedOver();
		answer();
		await agent.local.release(acquisition);
		await agent.local.acquire(asks("third"), atOnce());
		await pass(3_000);
		expect(holder()).toBe("drain of third");
	});

	test("reports what it could not give back", async () => {
		const { answer, pass, agent } = await handedOver();
		answer();
		agent.before = losing("update leases");
		await pass(2_000);
		expect(agent.problems).toEqual([unavailable]);
	});
});

describe("LocalCluster and a count that takes long", () => {
	/** Acquires while the reads of the count take this long. */
	async function slowly(ms: number) {
		const world = await setUp();
		const { agent, clock } = world;
		await agent.local.release(world.first);
		agent.before = async ({ resource }) => {
			if (resource === "fleet") await new Promise<void>((resolve) => void clock.after(ms, resolve));
		};
		const second = agent.local.acquire(asks("second"), atOnce()).catch((error: unknown) => error);
		await settle();
		clock.advance(ms);
		await settle();
		return { ...world, second };
	}

	test("says how much is left of the lease", async () => {
		expect(await (await slowly(7_000)).second).toMatchObject({ kind: "acquired", leaseDurationMs: 3_000 });
	});

	test("fails after 8 s, and gives the Lease back", async () => {
		const { second, holder } = await slowly(8_000);
		expect(await second).toEqual(
			new AgentUnavailableError(
				'the agent of cluster "eu-1" took more than 8 s to count for budget "shop/db": is its API server slow?',
				"eu-1",
			),
		);
		expect(holder()).toBe("");
	});
});

describe("LocalCluster and a caller that is gone", () => {
	test("gives back what was acquired in that very moment", async () => {
		const { agent, first, holder } = await setUp();
		await agent.local.release(first);
		const gone = new AbortController();
		agent.before = ({ resource }) => (resource === "fleet" ? gone.abort(new Error("gone")) : undefined);
		await expect(agent.local.acquire(asks("second"), atOnce(gone.signal))).rejects.toThrow("gone");
		expect(holder()).toBe("");
	});

	test("says that it is gone also where the Lease cannot be given back, and reports that", async () => {
		const { agent, first } = await setUp();
		await agent.local.release(first);
		const gone = new AbortController();
		agent.before = ({ resource }) => {
			if (resource !== "fleet") return;
			gone.abort(new Error("gone"));
			agent.before = losing("update leases");
		};
		await expect(agent.local.acquire(asks("second"), atOnce(gone.signal))).rejects.toThrow("gone");
		expect(agent.problems).toEqual([unavailable]);
	});

	test("lets the next one in line have the Lease", async () => {
		const { agent, first, holder } = await setUp();
		const gone = new AbortController();
		const second = agent.local.acquire(asks("second"), waiting(gone.signal)).catch((error: unknown) => error);
		const third = agent.local.acquire(asks("third"), waiting());
		await settle();
		agent.before = ({ resource }) => (resource === "fleet" ? gone.abort(new Error("gone")) : undefined);
		await agent.local.release(first);
		expect(await second).toEqual(new Error("gone"));
		expect(await third).toMatchObject({ kind: "acquired" });
		expect(holder()).toBe("drain of third");
	});
});

describe("LocalCluster.close()", () => {
	test("takes no more, and leaves what callers hold to whoever knows them", async () => {
		const { agent, holder } = await setUp();
		await agent.local.close();
		expect(holder()).toBe("drain of first");
		await expect(agent.local.acquire(asks("second"), atOnce())).rejects.toThrow(
			'the agent of cluster "eu-1" is shutting down',
		);
	});

	test("gives back what is being acquired in that moment", async () => {
		const { agent, first, holder } = await setUp();
		await agent.local.release(first);
		agent.before = async ({ verb, resource }) => {
			if (verb !== "update" || resource !== "leases") return;
			agent.before = () => undefined;
			await agent.local.close();
		};
		await expect(agent.local.acquire(asks("second"), atOnce())).rejects.toThrow("is shutting down");
		expect(holder()).toBe("");
	});

	test("sends away who waits, to another agent", async () => {
		const { agent, clock } = await setUp();
		const second = agent.local.acquire(asks("second"), waiting()).catch((error: unknown) => error);
		await settle();
		await agent.local.close();
		clock.advance(1_000);
		expect(await second).toBeInstanceOf(AgentUnavailableError);
	});

	/** Acquires, and calls `act` after the Lease is written, while the pods are counted. */
	async function whileCounting(act: (agent: SimulatedAgent) => Promise<void>) {
		const world = await setUp();
		const { agent, first } = world;
		await agent.local.release(first);
		agent.before = async ({ verb, resource }) => {
			if (verb !== "list" || resource !== "leases") return;
			agent.before = () => undefined;
			await act(agent);
		};
		await agent.local.acquire(asks("second"), atOnce()).catch(() => undefined);
		return world;
	}

	test("gives back what is being counted for in that moment", async () => {
		let counting: string | undefined;
		const { holder } = await whileCounting(async (agent) => {
			counting = (await agent.local.leases.read(budget))?.holder;
			await agent.local.close();
		});
		expect([counting, holder()]).toEqual(["drain of second", ""]);
	});

	test("leaves alone what was lost before", async () => {
		const { holder } = await whileCounting(async (agent) => {
			await agent.local.leases.change(budget, (found) => ({
				write: taken(found, { holder: "drain of thief", nonce: "thief", durationMs: 10_000 }),
				result: undefined,
			}));
			await agent.local.close();
		});
		expect(holder()).toBe("drain of thief");
	});

	test("reports what it could not give back", async () => {
		const { agent } = await whileCounting(async (agent) => {
			agent.before = losing("update leases");
			await agent.local.close();
			agent.before = () => undefined;
		});
		expect(agent.problems).toEqual([unavailable]);
	});
});

describe("LocalCluster whose line is kept by another agent", () => {
	/** Creates an agent that forwards calls, and records what the host of the line is asked. */
	function passingOn(answer: Cluster["acquire"]) {
		const world = simulateCluster();
		const asked: string[] = [];
		const host = {
			acquire: (...call: Parameters<Cluster["acquire"]>) => {
				asked.push(call[0].nonce);
				return answer(...call);
			},
		} as AgentCluster;
		let isHere = false;
		const agent: SimulatedAgent = world.newAgent({ lineHost: () => (isHere ? undefined : host) });
		return { ...world, agent, asked, comeHere: () => (isHere = true) };
	}

	test("passes the call on", async () => {
		const { agent, asked, server } = passingOn(async () => acquired);
		expect(await agent.local.acquire(asks("n"), atOnce())).toBe(acquired);
		expect(asked).toEqual(["n"]);
		expect(server.leases.size).toBe(0);
	});

	test("serves here where the line cannot be reached, and reports it", async () => {
		const { agent } = passingOn(() => Promise.reject(unavailable));
		expect(await agent.local.acquire(asks("n"), atOnce())).toMatchObject({ kind: "acquired" });
		expect(agent.problems).toEqual([unavailable]);
	});

	test("finds here what the host acquired before its answer was lost", async () => {
		const world = simulateCluster();
		const host = world.newAgent();
		const lost: Cluster["acquire"] = async (...call) => {
			await host.local.acquireHere(...call);
			agent.see();
			throw unavailable;
		};
		const agent: SimulatedAgent = world.newAgent({ lineHost: () => ({ acquire: lost }) as AgentCluster });
		expect(await agent.local.acquire(asks("n"), atOnce())).toMatchObject({
			kind: "acquired",
			acquisition: { leaseTransitions: 1 },
		});
	});

	test("hands on what the host says is wrong", async () => {
		const { agent, server } = passingOn(() => Promise.reject(new LeaseLostError("lost")));
		await expect(agent.local.acquire(asks("n"), atOnce())).rejects.toThrow(LeaseLostError);
		expect(server.leases.size).toBe(0);
	});

	test("does not serve a caller that is gone", async () => {
		const { agent, server } = passingOn(() => Promise.reject(unavailable));
		await expect(agent.local.acquire(asks("n"), atOnce(AbortSignal.abort(new Error("gone"))))).rejects.toBe(
			unavailable,
		);
		expect(server.leases.size).toBe(0);
	});

	test("does not pass on again what was passed on to it", async () => {
		const { agent, asked } = passingOn(async () => acquired);
		expect(await agent.local.acquireHere(asks("n"), atOnce())).toMatchObject({ kind: "acquired" });
		expect(asked).toEqual([]);
	});

	test("asks each time who keeps the line", async () => {
		const { agent, asked, comeHere } = passingOn(async () => acquired);
		await agent.local.acquire(asks("n"), atOnce());
		comeHere();
		await agent.local.acquire(asks("m"), atOnce());
		expect(asked).toEqual(["n"]);
	});
});
