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

test.each([2, undefined])("takes no step from what another connection told: now it is %s", async (now) => {
	const server = new SimulatedApiServer({ clusterId: "eu" });
	let connection: number | undefined = 1;
	const newStore = () =>
		new LeaseStore({
			api: { ...clusterApi(server), connection: () => connection },
			clock: createManualClock(),
			cluster: "eu-1",
		});
	const observe = (store: LeaseStore, version: string) =>
		store.change(budget, (lease) => ({ write: withObserved(lease, version), result: undefined }));
	const store = newStore();
	await observe(store, "5");
	const backup = server.snapshot();
	await observe(store, "6");
	server.restore(backup);
	// The same version as before, and something else.
	await observe(newStore(), "7");
	expect(store.known(budget)?.state.observed).toBe("6");
	connection = now;
	expect(store.known(budget)).toBeUndefined();
	await store.change(budget, (lease) => ({ write: { ...lease, labels: { team: "a" } }, result: undefined }));
	expect((await store.read(budget))?.state.observed).toBe("7");
});
