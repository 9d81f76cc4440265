import { expect } from "vitest";
import type { ApiObject } from "../../demo/apiserver/api-object.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractWorld } from "./contract-world.ts";
import { bringAbout, type LeaseConflict, type LeaseHands, leaseConflicts } from "./lease-conflicts.ts";

const leases = (world: ContractWorld, name = "") => world.path("leases", name, "coordination.k8s.io/v1");

const createLease = (world: ContractWorld, name: string) =>
	world.create(leases(world), { metadata: { name }, spec: { holderIdentity: "a", leaseDurationSeconds: 10 } });

const put = (world: ContractWorld, name: string, body: unknown) =>
	world.call({ method: "PUT", path: leases(world, name), body });

const remove = (world: ContractWorld, { metadata: { name, uid, resourceVersion } }: ApiObject) =>
	world.call({ method: "DELETE", path: leases(world, name), body: { preconditions: { uid, resourceVersion } } });

const handsOf = (world: ContractWorld): LeaseHands<ApiObject> => ({
	create: (name) => createLease(world, name),
	update: async (lease) => {
		const { body } = await put(world, lease.metadata.name, { ...lease, spec: { holderIdentity: "b" } });
		return body as ApiObject;
	},
	delete: (lease) => remove(world, lease),
	withUidOf: (seen, now) => ({ ...now, metadata: { ...now.metadata, uid: seen.metadata.uid } }),
});

const conflictCase = (conflict: LeaseConflict, nth: number): ContractCase => {
	const { write, answer } = conflict;
	const { code, reason, message, kind = "leases" } = answer;
	const nothing = { uid: "", resourceVersion: "" };
	return {
		name: `the ${write} of ${conflict.name} is a ${code} ${reason}, and changes nothing`,
		async run(world) {
			const name = `conflict-${nth}`;
			const { named, now } = await bringAbout(conflict, handsOf(world), name);
			const attempts = {
				create: () => world.call({ method: "POST", path: leases(world), body: { metadata: { name } } }),
				update: () => put(world, name, { ...named, spec: { holderIdentity: "c" } }),
				delete: () => remove(world, named as ApiObject),
			};
			expect(await attempts[write]()).toMatchObject({
				code,
				body: {
					kind: "Status",
					status: "Failure",
					reason,
					message: expect.stringContaining(message(name, named?.metadata ?? nothing, now?.metadata ?? nothing)),
					details: { name, group: "coordination.k8s.io", kind },
				},
			});
			const { code: found, body } = await world.get(leases(world, name));
			expect(found === 404 ? undefined : body).toEqual(now);
		},
	};
};

export const leaseCases: readonly ContractCase[] = [
	...leaseConflicts.map(conflictCase),
	{
		name: "a PUT with the latest version moves it",
		async run(world) {
			const lease = await createLease(world, "moved");
			const answer = await put(world, "moved", { ...lease, spec: { ...lease.spec, holderIdentity: "b" } });
			expect(answer).toMatchObject({ code: 200, body: { spec: { holderIdentity: "b" } } });
			const { metadata } = answer.body as typeof lease;
			expect(BigInt(metadata.resourceVersion)).toBeGreaterThan(BigInt(lease.metadata.resourceVersion));
			expect(metadata.uid).toBe(lease.metadata.uid);
		},
	},
	{
		name: "a PUT that changes nothing keeps the version",
		async run(world) {
			const lease = await createLease(world, "same");
			const answer = await put(world, "same", lease);
			expect(answer).toMatchObject({ code: 200, body: { metadata: lease.metadata } });
		},
	},
	{
		name: "a PUT under another name than the path's is a 400",
		async run(world) {
			const lease = await createLease(world, "named");
			expect(await put(world, "other", lease)).toMatchObject({ code: 400, body: { reason: "BadRequest" } });
		},
	},
	{
		name: "a DELETE of the version it names says what is gone",
		async run(world) {
			const lease = await createLease(world, "ended");
			expect(await remove(world, lease)).toMatchObject({
				code: 200,
				body: {
					kind: "Status",
					status: "Success",
					details: { name: "ended", group: "coordination.k8s.io", uid: lease.metadata.uid },
				},
			});
			expect(await world.get(leases(world, "ended"))).toMatchObject({
				code: 404,
				body: { reason: "NotFound", details: { name: "ended", group: "coordination.k8s.io", kind: "leases" } },
			});
		},
	},
];
