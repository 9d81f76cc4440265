import { describe, expect, test } from "vitest";
import { moveAuthority } from "../../../plugin/install/move-authority.ts";
import { pretendRotation } from "../../../plugin/install/pretended-rotation.ts";
import { changeAuthority, renewCertificates } from "../../../plugin/install/rotate-certificates.ts";
import { fleet, options } from "./rotation-fleet.ts";

describe("pretendRotation()", () => {
	test("goes through all steps of a real rotation, and writes nothing", async () => {
		for (const rotate of [renewCertificates, changeAuthority]) {
			const [pretended, real] = [fleet(), fleet()];
			const told = options();
			await rotate(pretendRotation(pretended.world, { rehearse: false }), told);
			expect(pretended.state).toMatchObject({ writes: [], uses: [], now: 0 });
			const done = options();
			await rotate(real.world, done);
			// A real rotation also waits for the agents, and says so.
			const withoutWaits = done.told.filter((line) => !line.includes("waits until"));
			expect(told.told).toEqual(withoutWaits);
		}
	});

	test("sends each write as a dry run where it is to rehearse", async () => {
		const { world, state } = fleet();
		const told: string[] = [];
		await moveAuthority(pretendRotation(world, { rehearse: true }), {
			agentNamespace: "xpdb-system",
			keepIn: "eu",
			tell: (line) => told.push(line),
		});
		expect(state.writes).toEqual(["eu Secret/xpdb-fleet-ca", "us no Secret/xpdb-fleet-ca"]);
		expect(state.uses).toEqual([]);
		expect(told).toEqual([
			"eu: Secret xpdb-fleet-ca keeps the fleet's CA with its key",
			"us: deleted Secret xpdb-fleet-ca",
		]);
	});

	test("refuses what a real one refuses, and does not wait for agents", async () => {
		const { world, agents } = fleet();
		const [first] = agents;
		if (first) first.tells = false;
		const pretended = pretendRotation(world, { rehearse: false });
		await expect(renewCertificates(pretended, options())).rejects.toThrow("is too old to tell");
		const silent = pretendRotation({ ...world, agents: async () => [] }, { rehearse: false });
		await expect(renewCertificates(silent, options())).rejects.toThrow("cannot be asked now");
	});
});
