// Tests a team's account from agent/team/team.yaml, bound to one namespace's budgets, and tokens that live too long.
// Checks the results, the agents' audit lines and the API server's audit log.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { AgentForbiddenError } from "../../../disruption/errors.ts";
import { agentServerName, createAgentClient } from "../../../proto/credentials.ts";
import { RemoteCluster } from "../../../proto/remote-cluster.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl } from "../agents.ts";
import { createDatabase, type Database } from "../database.ts";
import { getJson } from "../get-json.ts";
import { apply, eventually, kubectl } from "../kubectl.ts";
import { type PluginResult, plugin } from "../plugin-process.ts";

const person = ["--context=c1", "--as=bob", "--as-group=team-shop"];

/** Creates the example's team for this namespace. */
async function createTeam(namespace: string): Promise<AsyncDisposable> {
	const yaml = readFileSync(join(import.meta.dirname, "../../../agent/team/team.yaml"), "utf8");
	const objects = parseAllDocuments(yaml.replaceAll("namespace: shop", `namespace: ${namespace}`)).map(
		(document) => document.toJS() as object,
	);
	expect(objects.length).toBeGreaterThan(5);
	await apply(["c1"], objects);
	return {
		async [Symbol.asyncDispose]() {
			const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
			await kubectl("c1", ["delete", "--ignore-not-found", "--wait=false", "-f", "-"], list);
		},
	};
}

/** Allows the team to evict pods in the namespace, without any right to the budget. */
async function letEvict(namespace: string): Promise<void> {
	const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: "evict-pods", namespace } };
	await apply(
		["c1"],
		[
			{
				...rbac,
				kind: "Role",
				rules: [
					{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
					{ apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
				],
			},
			{
				...rbac,
				kind: "RoleBinding",
				roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "evict-pods" },
				subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "team-shop" }],
			},
		],
	);
}

function evict({ namespace }: Database): Promise<PluginResult> {
	return plugin(["evict", "db-0", "-n", namespace, ...person, "--timeout=2m"]);
}

async function agentLogs(): Promise<string> {
	const lists = await Promise.all(sharedFleet().contexts.map((cluster) => fleetControl().listAgents(cluster)));
	return lists
		.flat()
		.map(({ logFile }) => readFileSync(logFile, "utf8"))
		.join("");
}

type Line = Readonly<Record<string, unknown>>;

async function auditLines(budget: string): Promise<readonly Line[]> {
	return (await agentLogs())
		.split("\n")
		.filter((line) => line.includes('"audit":true') && line.includes(budget))
		.map((line): Line => JSON.parse(line));
}

function whoAskedFor(tokenId: string): readonly string[] {
	const log = readFileSync(sharedFleet().clusters[0]?.auditLog ?? "", "utf8");
	return log
		.split("\n")
		.filter((line) => line.includes(tokenId) && line.includes("issued-credential-id"))
		.map((line) => (JSON.parse(line) as { impersonatedUser?: { username?: string } }).impersonatedUser?.username ?? "");
}

async function asTokenHolder(token: string): Promise<{ readonly cluster: RemoteCluster } & Disposable> {
	const { octet, clusters } = sharedFleet();
	const map = await getJson<{ data: Record<string, string> }>(
		"c1",
		"/api/v1/namespaces/xpdb-system/configmaps/xpdb-ca",
	);
	const client = createAgentClient({
		address: `127.${octet}.1.1:8443`,
		serverName: agentServerName("xpdb-system"),
		ca: map.data["ca.crt"] ?? "",
		identity: { kind: "token", token: async () => token },
	});
	const cluster = new RemoteCluster({ id: clusters[0]?.id ?? "", name: "c1", client });
	return { cluster, [Symbol.dispose]: () => client.close() };
}

describeOnFleet("an account of a team", () => {
	test("decides about its own budgets and no others, and both are written down", async () => {
		await using own = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await using others = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		await using _ = await createTeam(own.namespace);
		await letEvict(others.namespace);
		const granted = await evict(own);
		expect(granted.code, granted.stderr).toBe(0);
		const refused = await evict(others);
		expect(refused.code, refused.stdout).not.toBe(0);
		expect(refused.stderr).toContain(
			`User "system:serviceaccount:xpdb-system:team-shop" may not acquire xpoddisruptionbudgets.x-pdb.form3.tech "db" in namespace "${others.namespace}"`,
		);
		expect((await others.samples()).filter(({ disruption }) => disruption)).toEqual([]);
		expect(await own.violations(1)).toEqual([]);

		const user = "system:serviceaccount:xpdb-system:team-shop";
		const mine = await auditLines(`${own.namespace}/db`);
		for (const [method, outcome] of [
			["Acquire", "acquired"],
			["Commit", "stood"],
		]) {
			// The account is the same in the agent that got the token and in those to which the call was passed on.
			const lines = mine.filter((line) => line["method"] === method && line["outcome"] === outcome);
			expect(lines.filter(({ port }) => port === "token")).not.toEqual([]);
			expect(lines.filter(({ port }) => port === "peer")).not.toEqual([]);
			expect(new Set(lines.map((line) => line["user"]))).toEqual(new Set([user]));
		}
		const [refusal, ...more] = await auditLines(`${others.namespace}/db`);
		expect(refusal).toMatchObject({ port: "token", user, outcome: "refused", code: "PERMISSION_DENIED" });
		expect(more.filter(({ outcome }) => outcome !== "refused")).toEqual([]);
		const tokenId = String(refusal?.["tokenId"]);
		expect(tokenId).toMatch(/^JTI=/);
		await eventually("the API server's audit log to have the token", async () => whoAskedFor(tokenId).length > 0);
		expect(whoAskedFor(tokenId)).toEqual(["bob"]);
		expect(mine.map(({ claimedHolder = "evict" }) => String(claimedHolder))).toEqual(
			expect.arrayContaining([expect.stringContaining("evict")]),
		);
		expect(await agentLogs()).not.toMatch(/eyJ[A-Za-z0-9_-]{10}/);
	});

	test("is refused with a token that lives too long, and let in with a short one", async () => {
		const create = ["-n", "xpdb-system", "create", "token", "xpdb-operator", "--audience=xpdb-agent"];
		const day = (await kubectl("c1", [...create, "--duration=24h"])).trim();
		using longLived = await asTokenHolder(day);
		await expect(longLived.cluster.describe()).rejects.toBeInstanceOf(AgentForbiddenError);
		await expect(longLived.cluster.describe()).rejects.toThrow("it lives for 1440 minutes, more than 60");
		const short = (await kubectl("c1", [...create, "--duration=10m"])).trim();
		using shortLived = await asTokenHolder(short);
		expect((await shortLived.cluster.describe()).clusterName).toBe("c1");
	});

	test("is refused with the token of a Secret, which never ends", async () => {
		const metadata = {
			name: "forever",
			namespace: "xpdb-system",
			annotations: { "kubernetes.io/service-account.name": "xpdb-operator" },
		};
		await apply(["c1"], [{ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/service-account-token", metadata }]);
		const path = "/api/v1/namespaces/xpdb-system/secrets/forever";
		const read = async () => (await getJson<{ data?: { token?: string } }>("c1", path)).data?.token ?? "";
		await eventually("the Secret to have a token", async () => (await read()) !== "");
		using holder = await asTokenHolder(Buffer.from(await read(), "base64").toString("utf8"));
		await expect(holder.cluster.describe()).rejects.toBeInstanceOf(AgentForbiddenError);
		await kubectl("c1", ["-n", "xpdb-system", "delete", "secret", "forever"]);
	});
});
