import { describe, expect, test } from "vitest";
import { type LeaseStep, LeaseStore } from "../../../agent/leases/lease-store.ts";
import { AgentUnavailableError, GarbledLeaseError } from "../../../disruption/errors.ts";
import {
	acquired,
	type BudgetLease,
	leaseDurationMs,
	leaseName,
	namespaceLabel,
	released,
	renewed,
	withObserved,
} from "../../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../../disruption/lease/lease-text.ts";
import type { LeaseObject } from "../../../disruption/lease/lease-object.ts";
import { clusterApi, SimulatedApiServer } from "../../explore/simulated-api.ts";
import { leaseConflicts } from "../../kubernetes/lease-conflicts.ts";
import { budget } from "../../support/build-count.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { type Interception, losing, unavailable } from "../../support/simulated-agent.ts";

const name = leaseName(budget);
const by = (nonce: string, durationMs = leaseDurationMs) => ({ holder: `drain of ${nonce}`, nonce, durationMs });

function setUp(server = new SimulatedApiServer({ clusterId: "eu" }), clock = createManualClock()) {
	const requests: string[] = [];
	const faults: { before: Interception; after: Interception } = { before: () => undefined, after: () => undefined };
	const api = clusterApi(server, async (call) => {
		await faults.before(call);
		requests.push(call.verb);
		const answer = call.execute();
		await faults.after(call);
		return answer;
	});
	const store = new LeaseStore({ api, clock, cluster: "eu-1" });
	const write = (step: (lease: BudgetLease) => BudgetLease) =>
		store.change(budget, (lease) => ({ write: step(lease), result: undefined }));
	const object = (): LeaseObject => {
		const found = server.leases.get(name);
		if (!found) throw new Error("there is no Lease");
		return found;
	};
	const meddle = (change: Partial<LeaseObject>) => server.updateLease({ ...object(), ...change });
	return { server, clock, store, requests, faults, write, object, meddle, read: () => store.read(budget) };
}

/** The store never deletes, and always names the version that it read. */
const storeConflicts = leaseConflicts.filter(({ write, names }) => write !== "delete" && names === undefined);

const observing = (version: string) => (lease: BudgetLease) => withObserved(lease, version);

describe("LeaseStore.change()", () => {
	test("makes no Lease, whatever the step, where none is to be made for the budget", async () => {
		const server = new SimulatedApiServer({ clusterId: "eu" });
		const problem = new AgentUnavailableError("It exists in no member", "eu-1");
		const store = new LeaseStore({
			api: clusterApi(server, async (call) => call.execute()),
			clock: createManualClock(),
			cluster: "eu-1",
			beforeCreating: () => Promise.reject(problem),
		});
		for (const step of [acquired, released, renewed]) {
			const change = store.change(budget, (lease) => ({ write: step(lease, by("n")), result: undefined }));
			await expect(change).rejects.toBe(problem);
		}
		expect(server.leases.size).toBe(0);
	});
});

describe("LeaseStore.read()", () => {
	test("gives nothing where there is no Lease, and makes none", async () => {
		const { read, server } = setUp();
		expect(await read()).toBeUndefined();
		expect(server.leases.size).toBe(0);
	});

	test("asks the API server each time", async () => {
		const { read, write, requests } = setUp();
		await write(observing("9"));
		await read();
		await read();
		expect(requests.slice(-2)).toEqual(["get", "get"]);
	});

	test("refuses a garbled Lease with the cluster's name", async () => {
		const { read, write, object, meddle } = setUp();
		await write(observing("9"));
		meddle({ annotations: { ...object().annotations, [stateAnnotation]: "{}" } });
		await expect(read()).rejects.toThrow(GarbledLeaseError);
		await expect(read()).rejects.toThrow('in cluster "eu-1"');
	});
});

describe("LeaseStore.change()", () => {
	test("makes the Lease where there is none", async () => {
		const { write, object } = setUp();
		await write((lease) => acquired(lease, by("n")));
		expect(object()).toMatchObject({
			name,
			labels: { [namespaceLabel]: "shop", "app.kubernetes.io/managed-by": "xpdb-agent" },
			spec: { holderIdentity: "drain of n", leaseDurationSeconds: 10, leaseTransitions: 1 },
		});
	});

	for (const { write, name: what, meanwhile } of storeConflicts) {
		test(`takes the step from a fresh read where its ${write} meets ${what}`, async () => {
			const first = setUp();
			const second = setUp(first.server);
			const hands = {
				create: () => second.write((lease) => acquired(lease, by("other"))),
				update: () => second.write((lease) => acquired(lease, by("other"))),
				delete: async () => first.server.deleteLease(name, {}),
			};
			if (write === "update") await first.write(observing("9"));
			let left: LeaseObject | undefined;
			first.faults.before = async ({ verb }) => {
				if (verb !== write) return;
				first.faults.before = () => undefined;
				for (const act of meanwhile) await hands[act]();
				left = first.server.leases.get(name);
			};
			const seen: string[] = [];
			await first.write((lease) => {
				seen.push(lease.holder);
				return withObserved(lease, "10");
			});
			const holder = left?.spec.holderIdentity ?? "";
			expect(seen).toEqual(write === "update" ? ["", holder] : [holder]);
			expect(await first.read()).toMatchObject({ holder, state: { observed: "10" } });
			// A deleted Lease is created again.
			expect(first.object().uid).toBe(left?.uid ?? "eu-lease-2");
		});
	}

	test("is one request where nobody else wrote since", async () => {
		const { write, requests } = setUp();
		await write(observing("9"));
		requests.length = 0;
		await write(observing("10"));
		expect(requests).toEqual(["update"]);
	});

	test("never refuses on a Lease that it only remembers", async () => {
		const first = setUp();
		const second = setUp(first.server);
		await first.write((lease) => acquired(lease, by("n")));
		await second.write(released);
		const isFree = (lease: BudgetLease): LeaseStep<boolean> =>
			lease.holder === "" ? { write: acquired(lease, by("m")), result: true } : { result: false };
		expect((await first.store.change(budget, isFree)).result).toBe(true);
	});

	test("writes nothing for a refusal, and reads for it once", async () => {
		const { store, write, requests } = setUp();
		await write((lease) => acquired(lease, by("n")));
		requests.length = 0;
		expect(await store.change(budget, () => ({ result: "refused" }))).toMatchObject({ result: "refused" });
		expect(requests).toEqual(["get"]);
	});

	// x-pdb, in contrast, goes on to delete after a failed read, and without a precondition.
	test("writes nothing where the read failed", async () => {
		const { write, faults, requests } = setUp();
		faults.before = losing("get leases");
		await expect(write(released)).rejects.toThrow(AgentUnavailableError);
		expect(requests).toEqual([]);
	});

	test("reads after a write whose answer was lost, and finds what it wrote", async () => {
		const { write, faults } = setUp();
		await write(observing("9"));
		faults.after = losing("update leases");
		await expect(write((lease) => acquired(lease, by("n")))).rejects.toBe(unavailable);
		faults.after = () => undefined;
		const nonces: string[] = [];
		await write((lease) => {
			nonces.push(lease.state.nonce);
			return renewed(lease);
		});
		expect(nonces).toEqual(["n"]);
	});

	test("gives up where others are faster twenty times, and says where", async () => {
		const first = setUp();
		await first.write(observing("9"));
		let version = 100;
		first.faults.before = ({ verb }) => {
			if (verb !== "update") return;
			const { annotations } = first.object();
			first.meddle({ annotations: { ...annotations, "example.com/busy": String(version++) } });
		};
		await expect(first.write(observing("10"))).rejects.toThrow(
			'cannot write Lease of budget "shop/db" in cluster "eu-1": others were faster 20 times',
		);
		expect(first.requests.filter((verb) => verb === "update")).toHaveLength(21);
	});

	test("takes the steps of this process on one Lease one after the other: a hundred at once do not hinder each other", async () => {
		const { write, requests, read } = setUp();
		await write(observing("1"));
		requests.length = 0;
		await Promise.all(Array.from({ length: 100 }, () => write(renewed)));
		expect((await read())?.state.renewals).toBe(100);
		expect(requests.filter((verb) => verb === "update")).toHaveLength(100);
	});

	test("does not let one Lease wait for another", async () => {
		const { store, faults } = setUp();
		const slow = Promise.withResolvers<void>();
		faults.before = (call) => (call.name === name ? slow.promise : undefined);
		const waiting = store.change(budget, () => ({ result: 1 }));
		const other = { namespace: "shop", name: "web" };
		expect((await store.change(other, () => ({ result: 2 }))).result).toBe(2);
		slow.resolve();
		await waiting;
	});

	test("goes on after a step that failed", async () => {
		const { store, faults } = setUp();
		faults.before = (call) => {
			faults.before = () => undefined;
			return losing("get leases")(call);
		};
		const failing = store.change(budget, () => ({ result: 1 }));
		const next = store.change(budget, () => ({ result: 2 }));
		await expect(failing).rejects.toBe(unavailable);
		expect((await next).result).toBe(2);
	});
});

test("LeaseStore.changeExisting() makes no Lease where the one that it remembers is gone", async () => {
	const { store, write, server } = setUp();
	await write(observing("9"));
	server.leases.clear();
	const change = store.changeExisting(budget, (lease) => ({ write: released(lease), result: "done" }));
	expect(await change).toEqual({ lease: undefined, result: undefined });
	expect(server.leases.size).toBe(0);
});

describe("LeaseStore keeps", () => {
	test("the labels and annotations of others", async () => {
		const { write, object, meddle } = setUp();
		await write(observing("9"));
		const annotations = { ...object().annotations, "example.com/note": "hands off" };
		meddle({ annotations, labels: { ...object().labels, team: "shop" } });
		await write((lease) => acquired(lease, by("n")));
		expect(object()).toMatchObject({ annotations: { "example.com/note": "hands off" }, labels: { team: "shop" } });
	});

	test("its own labels, whatever others made of them", async () => {
		const { write, object, meddle } = setUp();
		await write(observing("9"));
		meddle({ labels: {} });
		await write(observing("10"));
		expect(object().labels).toMatchObject({ [namespaceLabel]: "shop" });
	});

	test("the time of the acquisition over renewals, as people read it", async () => {
		const { write, object, clock } = setUp();
		clock.advance(1_000);
		await write((lease) => acquired(lease, by("n")));
		clock.advance(3_000);
		await write(renewed);
		expect(object().spec).toMatchObject({
			acquireTime: "1970-01-01T00:00:01.000000Z",
			renewTime: "1970-01-01T00:00:04.000000Z",
		});
	});

	test("no holder in a released Lease, as client-go leaves it", async () => {
		const { write, object } = setUp();
		await write((lease) => acquired(lease, by("n")));
		await write(released);
		expect(object().spec).not.toHaveProperty("holderIdentity");
		expect(object().spec.leaseDurationSeconds).toBe(1);
	});
});

describe("LeaseStore judges the end of a holding", () => {
	async function held(durationMs = leaseDurationMs) {
		const first = setUp();
		await first.write((lease) => acquired(lease, by("n", durationMs)));
		const second = setUp(first.server, first.clock);
		const isFree = async (store = first.store) => {
			const lease = await store.read(budget);
			return lease && store.isFree(lease);
		};
		return { ...first, second, isFree };
	}

	test("by its duration", async () => {
		const { clock, isFree } = await held();
		clock.advance(10_000);
		expect(await isFree()).toBe(false);
		clock.advance(1);
		expect(await isFree()).toBe(true);
	});

	test("by the shorter duration of one that was handed over", async () => {
		const { clock, isFree } = await held(2_000);
		clock.advance(2_001);
		expect(await isFree()).toBe(true);
	});

	test("from its own first sight, however old the holding is", async () => {
		const { clock, second, isFree } = await held();
		clock.advance(60_000);
		expect(await isFree(second.store)).toBe(false);
		clock.advance(10_001);
		expect(await isFree(second.store)).toBe(true);
	});

	test("from the last renewal that it saw", async () => {
		const { clock, second, write, isFree } = await held();
		await isFree(second.store);
		clock.advance(9_000);
		await write(renewed);
		await isFree(second.store);
		clock.advance(9_000);
		expect(await isFree(second.store)).toBe(false);
	});

	test("anew where the same caller acquired again", async () => {
		const { clock, write, isFree } = await held();
		clock.advance(9_000);
		await write((lease) => acquired(lease, by("n")));
		clock.advance(9_000);
		expect(await isFree()).toBe(false);
	});

	test("from what the watch showed, before anybody asked", async () => {
		const { clock, second, object, isFree } = await held();
		second.store.sighted(object());
		clock.advance(10_001);
		expect(await isFree(second.store)).toBe(true);
	});

	// x-pdb, in contrast, compares acquireTime, which may be another replica's, with the local clock.
	for (const time of ["1970-01-01T00:00:00.000000Z", "2199-01-01T00:00:00.000000Z", "soon"]) {
		test(`a foreign acquireTime is never compared with the local clock: ${time}`, async () => {
			const { clock, meddle, object, isFree } = await held();
			meddle({ spec: { ...object().spec, acquireTime: time, renewTime: time } });
			clock.advance(9_999);
			expect(await isFree()).toBe(false);
			clock.advance(2);
			expect(await isFree()).toBe(true);
		});
	}

	test("and says how long it has lasted in all, renewals or not", async () => {
		const { clock, store, write, read } = await held();
		clock.advance(3_000);
		await write(renewed);
		clock.advance(3_000);
		const lease = await read();
		expect(lease && [store.heldForMs(lease), store.silentForMs(lease)]).toEqual([6_000, 3_000]);
	});
});

describe("LeaseStore.sighted()", () => {
	test("saves the next step its read", async () => {
		const first = setUp();
		await first.write(observing("9"));
		const second = setUp(first.server);
		second.store.sighted(first.object());
		await second.write(observing("10"));
		expect(second.requests).toEqual(["update"]);
	});

	test("does not take a step back where the watch is behind", async () => {
		const { store, write, object, requests } = setUp();
		await write(observing("9"));
		const old = object();
		await write(observing("10"));
		store.sighted(old);
		requests.length = 0;
		await write(observing("11"));
		expect(requests).toEqual(["update"]);
	});

	test("of a garbled Lease throws, and what was known stays a first guess", async () => {
		const { store, write, object, meddle } = setUp();
		await write(observing("9"));
		meddle({ annotations: { ...object().annotations, [stateAnnotation]: "{}" } });
		expect(() => store.sighted(object())).toThrow(GarbledLeaseError);
		await expect(write(observing("10"))).rejects.toThrow(GarbledLeaseError);
	});

	test("and forget() leave nothing that a step could not do without", async () => {
		const { store, write, requests } = setUp();
		await write(observing("9"));
		store.forget(name);
		requests.length = 0;
		await write(observing("10"));
		expect(requests).toEqual(["get", "update"]);
	});
});
