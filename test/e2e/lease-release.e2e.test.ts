// Tests `kubectl xpdb leases release` on real clusters: a run hangs while it holds Leases, a user releases them, and the run continues.
import { expect, test } from "vitest";
import { budgetApi } from "../../disruption/budget/budget.ts";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { createDatabase } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { getJson } from "./get-json.ts";
import { apply, kubectl } from "./kubectl.ts";
import { plugin, startPlugin } from "./plugin-process.ts";

const clusters = ["c1", "c2", "c3"];
const contexts = ["--contexts", clusters.map((cluster) => `${cluster}-operator`).join(",")];

interface EventList {
	readonly items: readonly { readonly reason: string; readonly note: string }[];
}

/** Creates an account that may acquire the budgets of `namespace` but not release their Leases. */
async function createTeam(namespace: string) {
	const name = `team-${namespace}`;
	const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name, namespace } };
	await apply(
		["c1"],
		[
			{ apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "xpdb-system" } },
			{
				...rbac,
				kind: "Role",
				rules: [{ apiGroups: [budgetApi.group], resources: [budgetApi.resource], verbs: ["acquire"] }],
			},
			{
				...rbac,
				kind: "RoleBinding",
				roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
				subjects: [{ kind: "ServiceAccount", name, namespace: "xpdb-system" }],
			},
		],
	);
	return {
		name,
		[Symbol.asyncDispose]: async () =>
			void (await kubectl("c1", ["delete", "serviceaccount", name, "-n", "xpdb-system"])),
	};
}

describeOnFleet("kubectl xpdb leases release", () => {
	test("releases nothing without the budget's name typed again, or without the right", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { namespace } = database;
		await using team = await createTeam(namespace);
		const args = ["leases", "release", "db", "-n", namespace];
		using run = startPlugin(evictArgs(database, { name: "db-0", context: "c1" }), {
			XPDB_PAUSE_POINT: "after-acquire",
		});
		await run.asleep();

		// Concurrent, because agents soon release Leases that are not renewed.
		const [unconfirmed, another, forbidden] = await Promise.all([
			plugin([...args, ...contexts]),
			plugin([...args, ...contexts, "--confirm=web"]),
			plugin([...args, "--context", "c1", "--agent-account", team.name, "--confirm=db"]),
		]);
		expect(unconfirmed).toMatchObject({ code: 1, stdout: "" });
		expect(unconfirmed.stderr).toContain("nothing was touched\nUse --confirm=db\n");
		expect(another).toMatchObject({ code: 1, stdout: "" });
		expect(another.stderr).toContain('--confirm names "web", and it is about "db": nothing was touched\n');
		expect(forbidden).toMatchObject({ code: 1, stdout: "" });
		expect(forbidden.stderr).toContain(
			`User "system:serviceaccount:xpdb-system:${team.name}" may not release xpoddisruptionbudgets.x-pdb.form3.tech "db"`,
		);

		run.child.kill("SIGCONT");
		expect(await run.finished).toMatchObject({ code: 0 });
	});

	test("ends the hold of a run that hangs: others go on, and what it held lets it evict nothing", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { namespace } = database;
		const args = ["leases", "release", "db", "-n", namespace];
		using run = startPlugin(evictArgs(database, { name: "db-0", context: "c1" }), {
			XPDB_PAUSE_POINT: "after-acquire",
		});
		await run.asleep();
		const released = await plugin([...args, ...contexts, "--confirm=db"]);
		expect(released.code, released.stderr).toBe(0);
		for (const cluster of clusters) {
			expect(released.stdout).toMatch(
				new RegExp(`^Lease of budget ${namespace}/db in ${cluster}-operator released, which .* evict \\w+ held$`, "m"),
			);
			const events = await getJson<EventList>(cluster, `/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
			expect(events.items.filter(({ reason }) => reason === "LeaseReleased")).toEqual([
				expect.objectContaining({ note: expect.stringContaining(`the Lease of budget ${namespace}/db in ${cluster}`) }),
			]);
		}
		const other = await plugin(evictArgs(database, { name: "db-0", context: "c2" }));
		expect(other.code, other.stderr).toBe(0);

		// The run learns that its round has ended and tries again. Its pod can go when the other pod's replacement is ready.
		run.child.kill("SIGCONT");
		const woken = await run.finished;
		expect(woken.code, woken.stderr).toBe(0);
		await database.ready();
		expect(await database.violations(1)).toEqual([]);

		const nothing = await plugin([...args, ...contexts, "--confirm=db"]);
		expect(nothing).toMatchObject({ code: 0, stdout: "" });
		expect(nothing.stderr).toBe("No run holds a Lease of budget db: there is nothing to release\n");
		const unknown = await plugin(["leases", "release", "dc", "-n", namespace, ...contexts, "--confirm=dc"]);
		expect(unknown).toMatchObject({ code: 1, stdout: "" });
		expect(unknown.stderr).toBe(
			'Error from server (NotFound): xpoddisruptionbudgets.x-pdb.form3.tech "dc" not found\n',
		);
	});
});
