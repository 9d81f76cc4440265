// Tests `kubectl xpdb check` on healthy clusters, and with an address at which no API server listens. The folder check/ covers all other
// problems.
import { expect, test } from "vitest";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { eventuallyFinds, everywhere } from "./check/run-check.ts";
import { createDatabase, type Database } from "./database.ts";
import { plugin } from "./plugin-process.ts";
import { writesSince } from "./writes-since.ts";

const inNamespace = ({ namespace }: Pick<Database, "namespace">): readonly string[] => ["-n", namespace];

describeOnFleet("kubectl xpdb check", () => {
	test("finds nothing in a fleet that is well, for operators and with their rights alone, and writes nothing", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const since = Date.now() * 1_000;
		const { exitCode, checks } = await eventuallyFinds([], ...everywhere, ...inNamespace(database));
		expect(exitCode).toBe(0);
		expect(new Set(checks.map(({ category }) => category)).size).toBe(6);
		expect(checks.every(({ result }) => result === "ok")).toBe(true);
		expect(await writesSince(since, database)).toEqual([]);
		const plain = await plugin(["check", ...everywhere, ...inNamespace(database)]);
		expect(plain, plain.stderr).toMatchObject({ code: 0, stderr: "" });
		expect(plain.stdout).toMatch(
			/^access +c1-operator +c2-operator +c3-operator\nok API server answers, >= 1\.30 +v1\./,
		);
		// Without a context for a member, the plugin reaches its agents through those of other members.
		const partly = ["MemberWithoutContext in c2", "MemberWithoutContext in c3", "NotChecked in c2", "NotChecked in c3"];
		const alone = await eventuallyFinds(partly, "--context", "c1-operator", "--fail-on=warn", ...inNamespace(database));
		expect(alone.exitCode).toBe(3);
	});

	test("says of a cluster that gives no answer that it is not known, at once and once", async () => {
		const silent = ["check", "--context", "c1-operator", "--server", "https://127.0.0.1:1"];
		const { code, stdout } = await plugin(silent);
		expect(code, stdout).toBe(4);
		expect(stdout).not.toMatch(/^ok /m);
		expect(stdout).toMatch(/^\? {2}API server answers, >= 1\.30 +\? +XPDB1101\n {4}c1-operator: .*ECONNREFUSED/m);
		expect(stdout.match(/its API server gives no answer/g)).toHaveLength(1);
	});
});
