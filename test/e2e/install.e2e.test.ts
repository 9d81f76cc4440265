// A fleet by the plugin alone: made of three clusters that have nothing of ours, used, upgraded and taken away again, to the last object.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { type BareClusters, type Said, startBareClusters } from "./bare-clusters.ts";

describeOnFleet("install, upgrade and uninstall", () => {
	let bare: BareClusters;

	beforeAll(async () => {
		bare = await startBareClusters(3);
	});

	afterAll(async () => {
		await bare[Symbol.asyncDispose]();
	});

	/** The plugin as the administrator of all three. */
	function xpdb(command: string, ...flags: readonly string[]): Promise<Said> {
		return bare.xpdb([command, "--contexts", bare.contexts(), ...flags]);
	}

	test("makes a fleet, changes nothing a second time, replaces agents, and leaves none of its objects", async () => {
		const { fleet, ours, kubectl } = bare;
		for (const { name } of fleet.clusters) expect(ours(name)).toEqual([]);
		const flags = ["--image", "example.com/agent:1", ...bare.addresses];

		const shown = await xpdb("install", ...flags, "--dry-run=client", "-o", "yaml");
		expect(shown.code, shown.err).toBe(0);
		expect(shown.out).not.toContain("kind: Secret");
		expect((await xpdb("install", ...flags, "--dry-run=client", "-o", "yaml")).out).toBe(shown.out);
		expect(await xpdb("install", ...flags)).toMatchObject({
			code: 1,
			err: expect.stringContaining("an installation needs a confirmation, and there is no terminal to ask on"),
		});
		for (const { name } of fleet.clusters) expect(ours(name)).toEqual([]);

		const kubelets = bare.bringCertificates();
		const installed = await xpdb("install", ...flags, "-y");
		await kubelets;
		expect(installed.code, installed.out + installed.err).toBe(0);
		expect(installed.out + installed.err).not.toContain("PRIVATE KEY");
		expect(installed.out).toMatch(/^(\d+) checks: \1 ok \(/m);
		// Not by the sum of the checks alone: the plugin has spoken with the agents of each cluster.
		const { out } = await xpdb("version", "-o", "json");
		expect(JSON.parse(out).agents).toEqual(
			fleet.clusters.map(({ name }) =>
				expect.objectContaining({ cluster: name, gitVersion: expect.stringMatching(/^\d+\./) }),
			),
		);

		kubectl("c1", ["apply", "-f", join(fleet.dir, "demo.yaml")]);
		const budgets = await xpdb("budgets", "-A");
		expect(budgets.code, budgets.err).toBe(0);

		const again = await xpdb("install", ...flags);
		expect(again.code, again.err).toBe(0);
		expect(again.out).toContain("Everything is as it should be: nothing was changed\n");

		const upgraded = await xpdb("upgrade", "--image", "example.com/agent:2", "-y");
		expect(upgraded.code, upgraded.out + upgraded.err).toBe(0);
		expect(upgraded.out.match(/^c\d {2}.* changed$/gm)).toEqual(
			["c1", "c2", "c3"].map((name) => `${name}  deployment.apps/xpdb-agent changed`),
		);

		const removed = await xpdb("uninstall", "-y");
		expect(removed.code, removed.out + removed.err).toBe(0);
		for (const { name } of fleet.clusters) expect(ours(name)).toEqual([]);
		expect(kubectl("c1", ["get", "xpoddisruptionbudgets", "-A", "-o", "name"])).not.toBe("");
		expect((await xpdb("uninstall", "-y")).out).toBe("There is nothing to remove\n");
	});
});
