import { describe, expect, test } from "vitest";
import { moveAuthority } from "../../../plugin/install/move-authority.ts";
import { changeAuthority, renewCertificates } from "../../../plugin/install/rotate-certificates.ts";
import { fleet, old, options } from "./rotation-fleet.ts";

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

	test("refuses a context that is not named, and a key that nobody has", async () => {
		const world = fleet();
		await expect(moved(world, "ap")).rejects.toThrow("--keep-in=ap is not one of the contexts eu, us");
		await world.world.removeAuthority("us");
		await expect(moved(world)).rejects.toThrow("there is nothing to move");
	});
});
