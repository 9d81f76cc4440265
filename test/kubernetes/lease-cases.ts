import { expect } from "vitest";
import type { ContractCase } from "./contract-case.ts";
import type { ContractWorld } from "./contract-world.ts";

const leases = (world: ContractWorld, name = "") => world.path("leases", name, "coordination.k8s.io/v1");
const conflict = { kind: "Status", status: "Failure", reason: "Conflict" };

const createLease = (world: ContractWorld, name: string) =>
	world.create(leases(world), { metadata: { name }, spec: { holderIdentity: "a", leaseDurationSeconds: 10 } });

const put = (world: ContractWorld, name: string, body: unknown) =>
	world.call({ method: "PUT", path: leases(world, name), body });

export const leaseCases: readonly ContractCase[] = [
	{
		name: "a name that is taken is a 409 AlreadyExists",
		async run(world) {
			await createLease(world, "taken");
			const answer = await world.call({ method: "POST", path: leases(world), body: { metadata: { name: "taken" } } });
			expect(answer).toMatchObject({
				code: 409,
				body: {
					kind: "Status",
					status: "Failure",
					reason: "AlreadyExists",
					message: 'leases.coordination.k8s.io "taken" already exists',
					details: { name: "taken", group: "coordination.k8s.io", kind: "leases" },
				},
			});
		},
	},
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
		name: "a PUT with a version that is not the latest is a 409 Conflict",
		async run(world) {
			const lease = await createLease(world, "stale");
			await put(world, "stale", { ...lease, spec: { holderIdentity: "b" } });
			const answer = await put(world, "stale", { ...lease, spec: { holderIdentity: "c" } });
			expect(answer).toMatchObject({
				code: 409,
				body: {
					...conflict,
					message:
						'Operation cannot be fulfilled on leases.coordination.k8s.io "stale": the object has been modified; please apply your changes to the latest version and try again',
					details: { name: "stale", group: "coordination.k8s.io", kind: "leases" },
				},
			});
		},
	},
	{
		name: "of two PUTs with one version one stands",
		async run(world) {
			const lease = await createLease(world, "raced");
			const answers = await Promise.all(
				["b", "c"].map((holderIdentity) => put(world, "raced", { ...lease, spec: { holderIdentity } })),
			);
			expect(answers.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([200, 409]);
		},
	},
	{
		name: "a PUT with another uid is a 409",
		async run(world) {
			const lease = await createLease(world, "reborn");
			const answer = await put(world, "reborn", { ...lease, metadata: { ...lease.metadata, uid: "another" } });
			expect(answer).toMatchObject({ code: 409, body: conflict });
		},
	},
	{
		name: "a PUT of what is gone is a 409 where it names a uid",
		async run(world) {
			const lease = await createLease(world, "lost");
			await world.call({ method: "DELETE", path: leases(world, "lost") });
			expect(await put(world, "lost", lease)).toMatchObject({ code: 409 });
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
		name: "a DELETE stands with the version it names, or not at all",
		async run(world) {
			const lease = await createLease(world, "ended");
			const { uid, resourceVersion } = lease.metadata;
			const remove = (preconditions: object) =>
				world.call({ method: "DELETE", path: leases(world, "ended"), body: { preconditions } });
			await put(world, "ended", { ...lease, spec: { holderIdentity: "b" } });
			expect(await remove({ uid, resourceVersion })).toMatchObject({ code: 409, body: conflict });
			const { metadata } = await world.read(leases(world, "ended"));
			expect(await remove({ uid, resourceVersion: metadata.resourceVersion })).toMatchObject({
				code: 200,
				body: { kind: "Status", status: "Success", details: { name: "ended", group: "coordination.k8s.io", uid } },
			});
			expect(await world.get(leases(world, "ended"))).toMatchObject({
				code: 404,
				body: { reason: "NotFound", details: { name: "ended", group: "coordination.k8s.io", kind: "leases" } },
			});
		},
	},
];
