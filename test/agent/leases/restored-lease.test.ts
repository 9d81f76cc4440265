import { expect, test } from "vitest";
import { LeaseStore } from "../../../agent/leases/lease-store.ts";
import {
	acquired,
	annotationsOf,
	leaseDurationMs,
	leaseName,
	parseLease,
	renewed,
	withObserved,
} from "../../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../../disruption/lease/lease-object.ts";
import { clusterApi, SimulatedApiServer } from "../../explore/simulated-api.ts";
import { budget } from "../../support/build-count.ts";
import { createManualClock } from "../../support/manual-clock.ts";

test.each<readonly [name: string, changed: (lease: LeaseObject) => Partial<LeaseObject>]>([
	["another holder", ({ spec }) => ({ spec: { ...spec, holderIdentity: "somebody else" } })],
	["other transitions", ({ spec }) => ({ spec: { ...spec, leaseTransitions: 7 } })],
	["another state", (object) => ({ annotations: annotationsOf(renewed(parseLease(object))) })],
	["another uid", () => ({ uid: "made anew" })],
])("a version that is known is read again where it says %s: etcd was restored from a backup", async (_, changed) => {
	const server = new SimulatedApiServer({ clusterId: "eu" });
	const api = clusterApi(server, async (call) => call.execute());
	const store = new LeaseStore({ api, clock: createManualClock(), cluster: "eu-1" });
	const by = { holder: "alice", nonce: "n", durationMs: leaseDurationMs };
	await store.change(budget, (lease) => ({ write: acquired(lease, by), result: undefined }));
	const known = await store.read(budget);
	const object = server.leases.get(leaseName(budget));
	if (!object) throw new Error("there is no Lease");
	const restored = { ...object, ...changed(object) };
	server.leases.set(leaseName(budget), restored);
	expect(await store.read(budget)).toEqual(parseLease(restored));
	expect(await store.read(budget)).not.toEqual(known);
});

/** If `connection.now` is undefined, the next read opens a connection. */
function setUp(connection: { now: number | undefined; onRead?: () => void }) {
	const server = new SimulatedApiServer({ clusterId: "eu" });
	const api = clusterApi(server);
	const getLease: typeof api.getLease = async (name) => {
		const found = await api.getLease(name);
		connection.now ??= 3;
		connection.onRead?.();
		return found;
	};
	const newStore = () =>
		new LeaseStore({
			api: { ...api, getLease, connection: () => connection.now },
			clock: createManualClock(),
			cluster: "eu-1",
		});
	const observe = (store: LeaseStore, version: string) =>
		store.change(budget, (lease) => ({ write: withObserved(lease, version), result: undefined }));
	return { server, newStore, observe };
}

test.each([2, undefined])("takes no step from what another connection told: now it is %s", async (now) => {
	const connection: { now: number | undefined } = { now: 1 };
	const { server, newStore, observe } = setUp(connection);
	const store = newStore();
	await observe(store, "5");
	const backup = server.snapshot();
	await observe(store, "6");
	server.restore(backup);
	// The same version as before, with other content.
	await observe(newStore(), "7");
	expect(store.known(budget)?.state.observed).toBe("6");
	connection.now = now;
	expect(store.known(budget)).toBeUndefined();
	await store.change(budget, (lease) => ({ write: { ...lease, labels: { team: "a" } }, result: undefined }));
	expect((await store.read(budget))?.state.observed).toBe("7");
});

test("writes nothing over another connection than the one that read the Lease", async () => {
	const connection: { now: number | undefined; onRead?: () => void } = { now: 1 };
	const { server, newStore, observe } = setUp(connection);
	await observe(newStore(), "5");
	const backup = server.snapshot();
	await observe(newStore(), "6");
	connection.onRead = () => {
		// After the answer, the connection is replaced, and the same version means another state.
		delete connection.onRead;
		server.restore(backup);
		server.leases.set(leaseName(budget), { ...restoredLease(server), resourceVersion: String(server.revision + 1) });
		connection.now = 2;
	};
	const seen: string[] = [];
	await newStore().change(budget, (lease) => {
		seen.push(lease.state.observed);
		return { write: { ...lease, labels: { team: "a" } }, result: undefined };
	});
	expect(seen).toEqual(["6", "5"]);
	expect((await newStore().read(budget))?.state.observed).toBe("5");
});

function restoredLease(server: SimulatedApiServer): LeaseObject {
	const lease = server.leases.get(leaseName(budget));
	if (!lease) throw new Error("there is no Lease");
	return lease;
}
