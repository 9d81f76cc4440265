// Tests a member whose list of the fleet is too short. A member leaves only if it is forgotten by name, and returns when it is listed.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { killComponent } from "../../controlplane/faults.ts";
import { describeOnFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl, recoverAgents } from "../agents.ts";
import { createDatabase, type Database } from "../database.ts";
import { evictArgs } from "../evict-args.ts";
import { editFleetLists, type FleetLists } from "../fleet-list.ts";
import { eventually, inTheAgentsName, kubectl } from "../kubectl.ts";
import { type PluginResult, plugin } from "../plugin-process.ts";

/** A greeting every 30 s, and time for agents to start on a busy machine. */
const greetedWithinMs = 120_000;

describeOnFleet("a list of the fleet that is too short", () => {
	let database: Database;
	let lists: FleetLists;
	beforeAll(async () => {
		database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		lists = await editFleetLists();
	});
	afterEach(async () => {
		await Promise.all(["c1", "c2", "c3"].map((context) => lists.restore(context)));
	});
	afterAll(async () => {
		await lists?.[Symbol.asyncDispose]();
		await database?.[Symbol.asyncDispose]();
	});

	const evict = async (context: string): Promise<PluginResult & { readonly gone: boolean }> => {
		const find = async () => (await database.pods()).find((pod) => pod.context === context);
		const before = await find();
		const result = await plugin(evictArgs(database, { name: before?.name ?? "", context }, "--timeout", "20s"));
		return { ...result, gone: (await find())?.uid !== before?.uid };
	};
	const expectEvicted = async (context: string): Promise<void> => {
		await database.ready();
		// Members may use a list that is a second old, so early evictions may be refused.
		let result = await evict(context);
		await eventually(`${context} to evict`, async () => {
			if (result.code !== 4) return true;
			expect(result.gone).toBe(false);
			result = await evict(context);
			return false;
		});
		expect(result, result.stderr).toMatchObject({ code: 0, gone: true });
		await database.ready();
	};

	test("is refused by the names of those it left out, at once, in every context", async () => {
		await lists.declare("c1", { members: ["c1"] });
		const there = await evict("c1");
		expect(there).toMatchObject({ code: 4, gone: false });
		expect(there.stderr).toMatch(
			/c1-operator: knows "c2" \(id \S+\) as a member, and its xpdb-fleet neither lists nor/,
		);
		expect(there.stderr).toContain('knows "c3"');
		// The other members list c1, so their agents call c1, which refuses them.
		const elsewhere = await evict("c2");
		expect(elsewhere).toMatchObject({ code: 4, gone: false });
		expect(elsewhere.stderr).toMatch(/c1: .*it is not a member of the fleet of cluster "c1"/);
		await lists.restore("c1");
		await expectEvicted("c1");
	});

	test("lets nobody go by half: who is forgotten in one member is refused by the other", async () => {
		await lists.declare("c1", { members: ["c1", "c2"], forgotten: ["c3"] });
		await lists.declare("c2", { members: ["c1", "c2"] });
		const result = await evict("c1");
		expect(result).toMatchObject({ code: 4, gone: false });
		expect(result.stderr).toMatch(/c2: knows "c3"/);
		await lists.declare("c2", { members: ["c1", "c2"], forgotten: ["c3"] });
		await expectEvicted("c1");
	});

	test("is refused where it was short from the first day on, as soon as a member greets it", async () => {
		const control = fleetControl();
		await control.setAgentRestarts("c1", false);
		for (const { name } of await control.listAgents("c1")) await control.killAgent("c1", name);
		const deletion = ["delete", "lease", "xpdb-known-members", "-n", "xpdb-system", ...inTheAgentsName];
		await kubectl("c1", deletion);
		await lists.declare("c1", { members: ["c1"] });
		await recoverAgents();
		const greeted = async (): Promise<boolean> => {
			const { stdout, stderr } = await plugin(["version", "--contexts", "c1-operator"]);
			return /knows "c[23]" \(id/.test(stdout + stderr);
		};
		await eventually("c1 to hear of the others", greeted, greetedWithinMs);
		const result = await evict("c1");
		expect(result).toMatchObject({ code: 4, gone: false });
		expect(result.stderr).toMatch(/knows "c[23]" \(id/);
		await lists.restore("c1");
		await expectEvicted("c1");
	});

	test("goes on where the dead member is forgotten by name, and refuses it until it is listed again", async () => {
		const revive = await killComponent(fleetControl(), { cluster: "c3", component: "apiserver" });
		try {
			for (const context of ["c1", "c2"]) await lists.declare(context, { members: ["c1", "c2"], forgotten: ["c3"] });
			const survivor = await plugin(evictArgs(database, { name: "db-0", context: "c1" }, "--timeout", "2m"));
			expect(survivor.stderr + survivor.stdout).toContain("pod/db-0 evicted");
			expect(survivor.code).toBe(0);
		} finally {
			await revive();
		}
		await recoverAgents();
		await database.ready();
		// An API server that has just started refuses everything for a moment.
		let returned = await evict("c3");
		await eventually("the API server of c3 to know its operator again", async () => {
			if (!/forbidden/i.test(returned.stderr)) return true;
			returned = await evict("c3");
			return false;
		});
		expect(returned, returned.stderr).toMatchObject({ code: 4, gone: false });
		expect(returned.stderr).toMatch(/c1: .*it is not a member of the fleet of cluster "c1"/);
		for (const context of ["c1", "c2"]) await lists.restore(context);
		await expectEvicted("c3");
	});
});
