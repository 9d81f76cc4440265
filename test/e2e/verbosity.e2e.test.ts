// Tests that -v prints every request and call of a run, but no secret.
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { parse } from "yaml";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { createDatabase } from "./database.ts";
import { eventually } from "./kubectl.ts";
import { uncordonAll } from "./nodes.ts";
import { plugin } from "./plugin-process.ts";

interface KubeconfigUsers {
	readonly users: readonly { readonly user: Readonly<Record<string, unknown>> }[];
}

/** Returns all tokens and keys of the kubeconfig. */
function logins(): readonly string[] {
	const { users } = parse(readFileSync(sharedFleet().kubeconfigPath, "utf8")) as KubeconfigUsers;
	return users
		.flatMap(({ user }) => [user["token"], user["client-key-data"]])
		.filter((value) => typeof value === "string");
}

/** Returns the IDs of the reservations under which pods of this namespace were evicted, from the audit logs. */
function reservationIds(namespace: string): readonly string[] {
	return sharedFleet()
		.clusters.flatMap(({ auditLog }) => readFileSync(auditLog, "utf8").split("\n"))
		.filter((line) => line.includes(`"namespace":"${namespace}"`))
		.flatMap((line) => [...line.matchAll(/"xpdb\.form3\.tech\/reservation":"([^"]+)"/g)])
		.map(([, id = ""]) => id);
}

describeOnFleet("-v", () => {
	afterEach(uncordonAll);

	for (const level of [6, 8, 10]) {
		test(`${level}: a drain is told request by request, without a token, a key or the id of a reservation`, async () => {
			await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
			const [pod] = await database.pods();
			const operators = sharedFleet().contexts.map((context) => `${context}-operator`);
			const drain = [`${pod?.context}-operator/${pod?.node}`, "--contexts", operators.join(","), "-y"];
			const { code, stdout, stderr } = await plugin(["drain", ...drain, "--ignore-daemonsets", `-v=${level}`]);
			expect(code, stderr).toBe(0);
			expect(stdout).toContain("pod/db-0 evicted");
			expect(stderr).toMatch(
				/^I\d{4} .*\] "Response" verb="POST" url="https:.*\/pods\/db-0\/eviction" status="201 Created"/m,
			);
			expect(stderr).toMatch(
				/"Response" verb="GET" url="https:.*\/portforward\?ports=\d+" status="101 Switching Protocols"/,
			);
			for (const call of ["Describe", "Acquire", "Commit"]) {
				expect(stderr).toMatch(new RegExp(`verb="RPC" call="/xpdb\\.v1\\.AgentService/${call}" cluster="c[123]"`));
			}
			await eventually("an eviction in the audit logs", async () => reservationIds(database.namespace).length > 0);
			expect(logins().length).toBeGreaterThan(0);
			const secrets = [...logins(), ...reservationIds(database.namespace)];
			expect(secrets.filter((secret) => stderr.includes(secret))).toEqual([]);
			expect(stderr).not.toMatch(/PRIVATE KEY|\beyJ[\w-]+\.[\w-]+\./);
			expect(stderr.includes("<masked>")).toBe(level >= 8);
		});
	}
});
