import { describe, expect, test } from "vitest";
import { moveAuthority } from "../../../plugin/install/move-authority.ts";
import { changeAuthority, renewCertificates } from "../../../plugin/install/rotate-certificates.ts";
import type { ClusterCertificates } from "../../../plugin/install/read-certificates.ts";
import { createAuthority } from "../../../plugin/install/sign-certificates.ts";
import { date, fleet, old, options } from "./rotation-fleet.ts";

const newer = await createAuthority(date);

function clusterOf({ clusters }: ReturnType<typeof fleet>, name: string): ClusterCertificates {
	const found = clusters.get(name);
	if (!found) throw new Error(name);
	return found;
}

describe("moveAuthority()", () => {
	const moved = (world: ReturnType<typeof fleet>, keepIn = "eu") =>
		moveAuthority(world.world, { agentNamespace: "xpdb-system", keepIn, tell: () => undefined });

	test("lets another cluster keep the CA's key, and certificates are renewed with it", async () => {
		const world = fleet();
		await moved(world);
		expect(world.state.writes).toEqual(["eu Secret/xpdb-fleet-ca", "us no Secret/xpdb-fleet-ca"]);
		expect(world.state.uses).toEqual(["Move by us for eu"]);
		await renewCertificates(world.world, options());
		expect(world.state.uses.slice(1)).toEqual(["Sign by eu for eu", "Sign by eu for us"]);
		expect(await changeAuthority(world.world, options({ keepIn: "us" }))).toBe("done");
		expect(world.clusters.get("eu")?.authority).toBeUndefined();
	});

	test("goes on where it was interrupted, and never ends with no key at all", async () => {
		const world = fleet();
		world.state.beforeWrite = () => {
			if (world.state.writes.length === 1) throw new Error("interrupted");
		};
		await expect(moved(world)).rejects.toThrow("interrupted");
		world.state.beforeWrite = () => undefined;
		await moved(world);
		expect(["eu", "us"].map((name) => world.clusters.get(name)?.authority?.current)).toEqual([old, undefined]);
	});

	test("keeps the new CA of a change that began after an interrupted move, wherever it is moved to", async () => {
		for (const keepIn of ["eu", "us"]) {
			const world = fleet();
			for (const name of ["eu", "us"]) {
				const authority = { current: old, ...(name === "us" && { next: newer }) };
				world.clusters.set(name, { ...clusterOf(world, name), authority });
			}
			await expect(renewCertificates(world.world, options())).rejects.toThrow("Secret xpdb-fleet-ca in us has two");
			await moved(world, keepIn);
			expect(clusterOf(world, keepIn).authority).toEqual({ current: old, next: newer });
			expect(clusterOf(world, keepIn === "eu" ? "us" : "eu").authority).toBeUndefined();
			expect(await changeAuthority(world.world, options())).toBe("done");
			expect(clusterOf(world, keepIn).authority).toEqual({ current: newer });
		}
	});

	test("refuses two members that keep different new CAs, and deletes neither", async () => {
		const world = fleet();
		for (const name of ["eu", "us"]) {
			world.clusters.set(name, {
				...clusterOf(world, name),
				authority: { current: old, next: name === "us" ? newer : await createAuthority(date) },
			});
		}
		await expect(moved(world)).rejects.toMatchObject({
			message: expect.stringContaining("eu and us keep different new CAs in Secret xpdb-fleet-ca: a fleet has one"),
			hint: expect.stringContaining("Delete the one that is not the fleet's, by its fingerprint"),
		});
		expect(world.state.writes).toEqual([]);
	});

	test("refuses a context that is not named, and a key that nobody has", async () => {
		const world = fleet();
		await expect(moved(world, "ap")).rejects.toThrow("--keep-in=ap is not one of the contexts eu, us");
		await world.world.removeAuthority("us");
		await expect(moved(world)).rejects.toThrow("there is nothing to move");
	});
});
