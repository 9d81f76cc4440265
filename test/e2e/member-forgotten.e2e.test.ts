// Tests `fleet forget` on a dead member: the others continue, and the member is refused when it comes back.
import { afterAll, beforeAll, expect, test } from "vitest";
import { killComponent } from "../controlplane/faults.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { createValidator, strictSchema } from "../support/json-schema.ts";
import { fleetControl, recoverAgents } from "./agents.ts";
import { createDatabase, type Database, type Pod } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { editFleetLists, type FleetLists } from "./fleet-list.ts";
import { getJson } from "./get-json.ts";
import { eventually } from "./kubectl.ts";
import { type PluginResult, startPlugin } from "./plugin-process.ts";

interface EventList {
	readonly items: readonly {
		readonly reason: string;
		readonly regarding: { readonly name: string };
		readonly note: string;
	}[];
}

const events = "/apis/events.k8s.io/v1/namespaces/xpdb-system/events";

async function run(...args: readonly string[]): Promise<PluginResult> {
	using plugin = startPlugin(args);
	return await plugin.finished;
}

async function forgottenEvents(context: string): Promise<readonly string[]> {
	const { items } = await getJson<EventList>(context, events);
	return items.filter(({ reason }) => reason === "MemberForgotten").map(({ note }) => note);
}

describeOnFleet("a member that is dead", () => {
	let database: Database;
	let lists: FleetLists;
	let revive: (() => Promise<void>) | undefined;
	let pods: readonly Pod[];
	beforeAll(async () => {
		database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
		pods = await database.pods();
		lists = await editFleetLists();
		revive = await killComponent(fleetControl(), { cluster: "c3", component: "apiserver" });
	});
	afterAll(async () => {
		await lists[Symbol.asyncDispose]();
		await recoverAgents();
		await database[Symbol.asyncDispose]();
	});
	const podOf = (context: string): Pod | undefined => pods.find((pod) => pod.context === context);

	test("is not forgotten by whoever may not, and nothing is touched then", async () => {
		const { code, stderr } = await run("fleet", "forget", "c3", "--contexts=c1-operator,c2-operator", "--yes");
		expect(code, stderr).toBe(1);
		expect(stderr).toMatch(/c1-operator: configmaps "xpdb-fleet" is forbidden/);
		expect(stderr).toContain("Nothing was touched.");
		expect(await forgottenEvents("c1")).toEqual([]);
	});

	test("is forgotten by name, and evictions go on without it", async () => {
		const silent = await run(...evictArgs(database, podOf("c1"), "--timeout=5s"));
		expect(silent.code, silent.stderr).toBe(4);
		const { code, stdout, stderr } = await run("fleet", "forget", "c3", "--contexts=c1,c2,c3", "--confirm=c3");
		expect(code, stdout + stderr).toBe(0);
		expect(stderr).toContain("Warning: c3: its list stays as it is");
		for (const context of ["c1", "c2"]) {
			expect(stdout).toContain(`${context}: c3 forgotten, the members are c1, c2`);
			expect(await forgottenEvents(context)).toEqual([expect.stringContaining("member c3")]);
		}
		expect(stdout).toContain("c1, c2 agree: evictions continue without c3");
		const evicted = await run(...evictArgs(database, podOf("c1")));
		expect(evicted.code, evicted.stdout + evicted.stderr).toBe(0);
	});

	test("is shown as forgotten, with what each of the others says of itself", async () => {
		const { code, stdout, stderr } = await run("fleet", "list", "--contexts=c1-operator,c2-operator", "-o", "json");
		expect(code, stdout + stderr).toBe(0);
		const document: unknown = JSON.parse(stdout);
		expect(createValidator(strictSchema("fleet-v1"))(document)).toEqual([]);
		const member = { state: "Member", listedBy: ["c1", "c2"], certificate: { sha256: expect.any(String) } };
		expect(document).toMatchObject({
			members: [
				{ ...member, name: "c1", heardSecondsAgo: { c2: expect.any(Number) } },
				{ ...member, name: "c2" },
				{ name: "c3", state: "Forgotten", forgottenBy: ["c1", "c2"] },
			],
			differences: [],
			problems: [],
		});
	});

	test("is refused when it comes back, until it is listed again", async () => {
		await revive?.();
		await recoverAgents();
		// Before that, the agents of c3 must reach their API server again, and be ready there.
		await eventually("an eviction in c3 to be refused for what the others say", async () => {
			const { code, stderr } = await run(...evictArgs(database, podOf("c3"), "--timeout=5s"));
			expect(code, stderr).toBe(4);
			return stderr.includes("it is not a member of the fleet of cluster");
		});
		const contexts = "--contexts=c1-operator,c2-operator,c3-operator";
		const differing = await run("fleet", "list", contexts);
		expect(differing.code, differing.stdout + differing.stderr).toBe(4);
		expect(differing.stderr).toContain("c3: declares the fleet c1, c2, c3");
		const own = await run("fleet", "forget", "c3", "--contexts=c1,c2,c3", "--yes");
		expect([own.code, own.stderr]).toEqual([1, expect.stringContaining("c3 leads to c3 itself, which answers")]);
		for (const { name } of sharedFleet().clusters.slice(0, 2)) await lists.restore(name);
		const said: string[] = [];
		await eventually("c3 to be a member again", async () => {
			const { code, stdout, stderr } = await run("fleet", contexts);
			said.splice(0, said.length, stdout, stderr);
			return code === 0;
		}).catch((error: unknown) => {
			throw new Error(`The fleet is not one again:\n${said.join("")}`, { cause: error });
		});
		const evicted = await run(...evictArgs(database, podOf("c3")));
		expect(evicted.code, evicted.stdout + evicted.stderr).toBe(0);
		expect(await database.violations(1)).toEqual([]);
	});
});
