// Tests installations with an obstacle, for example missing rights or a cluster that dies midway.
// Either nothing is changed, or the output lists what was done and the command that continues or undoes it.
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentServerName } from "../../proto/credentials.ts";
import { memberUri } from "../../proto/member-certificate.ts";
import { createAuthority, signAgentCertificate } from "../../plugin/install/sign-certificates.ts";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { type BareClusters, type Said, startBareClusters } from "./bare-clusters.ts";
import { denyingPolicy, inForce, outOfForce } from "./denying-policy.ts";
import { startDyingCluster } from "./dying-cluster.ts";
import { type ForeignObjects, foreignObjects } from "./foreign-objects.ts";
import { eventually } from "./kubectl.ts";
import { may } from "./may.ts";
import { neighbour, neighbourBudget, neighbourDefinition } from "./neighbour.ts";

const clusters = ["c1", "c2"] as const;
const longAgo = new Date("2010-01-01T00:00:00Z");

describeOnFleet("an installation with something in its way", () => {
	let bare: BareClusters;

	beforeAll(async () => {
		bare = await startBareClusters(2, [{ name: "late", group: "system:masters", validForMs: -60_000 }]);
	});

	afterAll(async () => {
		await bare[Symbol.asyncDispose]();
	});

	function install(flags: readonly string[] = [], options: Parameters<BareClusters["xpdb"]>[1] = {}): Promise<Said> {
		const image = ["--image", "example.com/agent:1", ...bare.addresses];
		return bare.xpdb(["install", "--contexts", bare.contexts(), ...image, "-y", ...flags], options);
	}

	function apply(cluster: string, objects: readonly object[], manager = "helm"): void {
		const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
		bare.kubectl(cluster, ["apply", "--server-side", `--field-manager=${manager}`, "-f", "-"], list);
	}

	function remove(cluster: string, objects: readonly object[]): void {
		const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
		bare.kubectl(cluster, ["delete", "--ignore-not-found", "-f", "-"], list);
	}

	/** Filters by name, because kwok has its own CRDs. */
	const definitions = (cluster: string): readonly string[] =>
		bare
			.kubectl(cluster, ["get", "customresourcedefinitions", "-o", "name"])
			.split("\n")
			.filter((line) => line.includes("x-pdb"));

	async function expectUntouched(): Promise<void> {
		for (const cluster of clusters) {
			expect(await bare.ours(cluster)).toEqual([]);
			expect(definitions(cluster)).toEqual([]);
		}
	}

	function expectRefused({ code, out, err }: Said, ...says: readonly (string | RegExp)[]): void {
		expect(code, out + err).toBe(1);
		for (const text of says) expect(err).toMatch(text);
		expect(err).not.toMatch(/\n\s+at .*:\d+/);
		expect(out).not.toMatch(/^c\d {2}.* (created|changed|deleted)$/m);
	}

	test("names each right that is missing, in both clusters, and touches nothing", async () => {
		const users = missingRights.map((right) => `without-${right}`);
		for (const cluster of clusters) {
			apply(cluster, [
				...missingRights.flatMap((right) => roleOf(`without-${right}`, allBut(right))),
				...(cluster === "c1" ? roleOf("half", [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]) : []),
			]);
		}
		// The API server enforces roles and bindings a moment later, in the order of their creation.
		await eventually("the last user to have rights", async () => {
			const asked = bare.fleet.clusters.flatMap(({ name, client }) => [
				may(client, { user: "half", ...makingNamespaces }).then((isSo) => isSo === (name === "c1")),
				may(client, { user: users.at(-1) ?? "", ...makingNamespaces }),
			]);
			return (await Promise.all(asked)).every(Boolean);
		});
		const rows = missingRights.map(async (right) => {
			const said = await install([`--as=without-${right}`]);
			for (const cluster of clusters) {
				expectRefused(
					said,
					new RegExp(`${cluster}: cannot apply \\S+: .*User "without-${right}" cannot patch resource "${right}"`),
					`'kubectl xpdb check --pre --context ${cluster} --as=without-${right}' names all that are missing`,
				);
			}
		});
		await Promise.all([
			...rows,
			install(["--as=nobody"]).then((said) => expectRefused(said, /^error: c1: cannot read .*\nc2: cannot read /m)),
			install(["--as=half"]).then((said) => {
				expectRefused(said, /^error: c2: cannot read /m);
				expect(said.err).not.toContain("c1: cannot");
			}),
		]);
		const hint = "check --pre --context c2 --as=without-secrets".split(" ");
		const checked = await bare.xpdb(hint);
		expect(checked.code, checked.err).toBe(3);
		expect(checked.out).toContain('user "without-secrets" may not patch secrets in namespace xpdb-system\n');
		await expectUntouched();
	});

	test("refuses logins and CAs that have expired, certificates that are not there, and folders that cannot be written", async () => {
		const expired = await createAuthority(longAgo);
		const file = (name: string, text: string): string => {
			const path = join(bare.fleet.dir, name);
			writeFileSync(path, text);
			return path;
		};
		const authority = [
			`--ca-cert=${file("expired.crt", expired.certificate)}`,
			`--ca-key=${file("expired.key", expired.key)}`,
		];
		const late = bare.xpdb(["install", "--contexts", bare.contexts("late"), "--image", "example.com/agent:1", "-y"]);
		const folder = ["--dry-run=client", "--output-dir=/proc/nowhere"];
		await Promise.all([
			late.then((said) => expectRefused(said, /c1-late: .*\(Unauthorized\)/, /c2-late: .*\(Unauthorized\)/)),
			install(authority).then((said) => expectRefused(said, /CA cannot be used: it expired at 2019-12-/)),
			install(["--certs=existing"]).then((said) =>
				expectRefused(
					said,
					/c1: there is no ConfigMap xpdb-system\/xpdb-ca\nc2: there is no ConfigMap xpdb-system\/xpdb-ca/,
				),
			),
			install(folder).then((said) => expectRefused(said, /cannot write to --output-dir: /)),
			// Not even root can write to this home.
			install(["--dry-run=server"], { env: { HOME: "/sys/home" } }).then(({ code, out, err }) => {
				expect(code, err).toBe(0);
				expect(out).toMatch(/^c2 \(cluster \S+\): \d+ to create$/m);
			}),
		]);
		await expectUntouched();
	});

	test("names what others have put in its place, and leaves it as it is", async () => {
		for (const row of foreignObjects) await standInTheWay(row);
		await expectUntouched();
	});

	async function standInTheWay({ name, objects, terminating = {}, flags, says }: ForeignObjects): Promise<void> {
		const leaving = Object.entries(terminating);
		try {
			for (const [cluster, list] of Object.entries(objects)) apply(cluster, list);
			for (const [cluster, object] of leaving) bare.kubectl(cluster, ["delete", object, "--wait=false"]);
			const said = await install(flags);
			expect({ name, code: said.code }, said.out + said.err).toEqual({ name, code: 1 });
			expectRefused(said, ...says);
		} finally {
			const letGo = '{"metadata":{"finalizers":null}}';
			for (const [cluster, object] of leaving) bare.kubectl(cluster, ["patch", object, "--type=merge", "-p", letGo]);
			for (const [cluster, list] of Object.entries(objects)) remove(cluster, list.toReversed());
		}
	}

	test("keeps to an x-pdb that is there, stops at a policy that no plan sees, and is undone by the command that it tells", async () => {
		const policy = denyingPolicy("only-our-registry", {
			group: "apps",
			resource: "deployments",
			namespace: "xpdb-system",
		});
		for (const cluster of clusters) {
			apply(cluster, [neighbourDefinition()]);
			bare.kubectl(cluster, ["wait", "--for=condition=Established", "crd", "--all"]);
			apply(cluster, [...neighbour, neighbourBudget(cluster === "c1" ? 1 : 2), ...policy]);
		}
		await Promise.all(clusters.map((cluster) => inForce(bare, cluster, "only-our-registry")));
		const { code, out, err } = await install();
		expect(code, out + err).toBe(2);
		for (const cluster of clusters) {
			expect(err).toContain(
				`Warning: ${cluster}: x-pdb judges evictions there too, by validatingwebhookconfiguration/x-pdb: `,
			);
			expect(out).toMatch(new RegExp(`^${cluster} {2}namespace/xpdb-system created$`, "m"));
		}
		expect(out).toContain("  = customresourcedefinition.apiextensions.k8s.io/xpoddisruptionbudgets.x-pdb.form3.tech: ");
		expect(out).toContain("; --force-conflicts takes it over\n");
		expect(out).toContain("1 budget exists already. Each applies to the pods of the whole fleet");
		expect(out).toContain("! shop/db: ");
		expect(err).toMatch(/^error: c\d: cannot apply deployment\.apps\/xpdb-agent: .*only-our-registry/m);
		const [, undo] = /; to undo it: kubectl xpdb (.+)$/m.exec(err) ?? [];
		expect(undo).toBe("uninstall --contexts=c1,c2");
		const undone = await bare.xpdb([...(undo ?? "").split(" "), "-y"]);
		expect(undone.code, undone.err).toBe(0);
		for (const cluster of clusters) {
			expect(await bare.ours(cluster)).toEqual([]);
			expect(bare.kubectl(cluster, ["get", "xpdb", "-n", "shop", "-o", "name"])).toContain("/db\n");
			expect(bare.kubectl(cluster, ["get", "validatingwebhookconfiguration", "-o", "name"])).toContain("/x-pdb\n");
			expect(managersOf(cluster, ["crd", "xpoddisruptionbudgets.x-pdb.form3.tech"])).not.toContain("kubectl-xpdb");
			remove(cluster, policy);
		}
	});

	function managersOf(cluster: string, object: readonly string[]): string {
		return bare.kubectl(cluster, [
			"get",
			...object,
			"--show-managed-fields",
			"-o",
			"jsonpath={.metadata.managedFields[*].manager}",
		]);
	}

	test("goes on with the same command where a cluster died in the middle, and where its agents could not start", async () => {
		const { fleet, kubectl } = bare;
		const pods = denyingPolicy("no-new-pods", { group: "", resource: "pods", namespace: "xpdb-system" });
		// A valid CA and an expired certificate, both made by hand.
		const authority = await createAuthority(new Date());
		const old = await signAgentCertificate(await createAuthority(longAgo), {
			commonName: "xpdb-agent",
			dnsName: agentServerName("xpdb-system"),
			uri: memberUri(fleet.clusters[0]?.id ?? ""),
			now: longAgo,
		});
		apply("c1", [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "xpdb-system" } }]);
		apply("c1", [keyPair("xpdb-fleet-ca", authority), keyPair("xpdb-agent-tls", old), neighbourBudget(1)]);
		apply("c2", [...pods, neighbourBudget(1)]);
		await inForce(bare, "c2", "no-new-pods");
		await using dying = await startDyingCluster(bare, "c2");
		const through = { env: { KUBECONFIG: dying.kubeconfig } };

		dying.dieAt("PATCH clusterroles", "dropped");
		const cut = await install(["--force-conflicts"], through);
		expectCut(cut, "c2  clusterrole.rbac.authorization.k8s.io/xpdb-agent");
		expect(cut.out).toContain("Secret xpdb-agent-tls gets a new certificate (it expired at ");
		expect(cut.out).toContain("c2  serviceaccount/xpdb-agent created\n");
		expect(kubectl("c2", ["get", "clusterroles", "-o", "name"])).not.toContain("/xpdb-agent\n");
		expectRefused(await install([], through), /^error: c2: cannot read /m);

		dying.dieAt("PATCH deployments", "lost");
		expectCut(await install(["--force-conflicts"], through), "c2  deployment.apps/xpdb-agent");
		dying.revive();
		kubectl("c2", [
			"wait",
			"--for=condition=ReplicaFailure",
			"deployment/xpdb-agent",
			"-n",
			"xpdb-system",
			"--timeout=2m",
		]);
		const stuck = await install(["--timeout=1s"], through);
		expect(stuck.code, stuck.out + stuck.err).toBe(2);
		expect(stuck.err).toMatch(/^error: c2: after 1 s 0 of 2 agents are up to date \(.*no-new-pods/m);

		remove("c2", pods);
		await outOfForce(bare, "c2", "no-new-pods");
		// The controller retries at growing intervals, but immediately after the object changes.
		kubectl("c2", ["annotate", "replicasets", "--all", "example.com/try=again", "-n", "xpdb-system"]);
		const done = await install();
		expect(done.out + done.err).not.toContain("PRIVATE KEY");
		expect(done.code, done.out + done.err).toBe(0);
		for (const cluster of clusters) expect(done.err).toContain(`Warning: ${cluster}: x-pdb judges evictions there too`);
		expect(kubectl("c1", ["get", "secret", "xpdb-fleet-ca", "-n", "xpdb-system", "-o", "json"])).toContain(
			Buffer.from(authority.key).toString("base64"),
		);
	});

	function expectCut({ code, out, err }: Said, unsure: string): void {
		expect(code, out + err).toBe(2);
		expect(err).toMatch(/^error: c2: cannot apply /m);
		expect(err).toContain(`${unsure} may be applied or not: no answer came\n`);
		expect(err).toContain("What is listed above was applied, and stands. Run the same command to continue");
		expect(out).not.toContain(`${unsure} created`);
	}

	test("leaves, when all of it goes, the CA that a person put there, with its namespace as it was", async () => {
		const { kubectl } = bare;
		const both = ["--contexts", bare.contexts()];
		// Copies the CA by hand into a namespace that the installation created.
		const { data } = JSON.parse(kubectl("c1", ["get", "secret", "xpdb-fleet-ca", "-n", "xpdb-system", "-o", "json"]));
		apply("c2", [{ ...keyPair("xpdb-fleet-ca"), data, stringData: undefined }]);
		const env = { KUBECACHEDIR: mkdtempSync(join(bare.fleet.dir, "cache-")) };
		const keptNames = join(env.KUBECACHEDIR, "kubectl-xpdb", "names");
		mkdirSync(keptNames, { recursive: true });
		expectRefused(await bare.xpdb(["uninstall", ...both], { env }), /this needs a confirmation/);
		expect(existsSync(keptNames)).toBe(true);
		const removed = await bare.xpdb(["uninstall", ...both, "-y"], { env });
		expect(existsSync(keptNames)).toBe(false);
		expect(removed.code, removed.out + removed.err).toBe(0);
		expect(removed.out).toContain("  = namespace/xpdb-system stays: contains other objects\n");
		for (const cluster of clusters) {
			expect(removed.out).toContain(`${cluster}: secret/xpdb-fleet-ca stays: not created by xpdb\n`);
			expect(await bare.ours(cluster)).toEqual(["namespaces xpdb-system", "secrets xpdb-fleet-ca"]);
		}
		expect(managersOf("c1", ["namespace", "xpdb-system"])).not.toContain("kubectl-xpdb");
		expect((await bare.xpdb(["uninstall", ...both, "-y"])).out).toBe("There is nothing to remove\n");

		for (const cluster of clusters) kubectl(cluster, ["delete", "secret", "xpdb-fleet-ca", "-n", "xpdb-system"]);
		const rest = await bare.xpdb(["uninstall", ...both, "--delete-budgets", "-y"]);
		expect(rest.code, rest.out + rest.err).toBe(0);
		expect(await bare.ours("c1")).toEqual(["namespaces xpdb-system"]);
		expect(await bare.ours("c2")).toEqual([]);
		for (const cluster of clusters) expect(definitions(cluster)).toEqual([]);
	});
});

const makingNamespaces = { verb: "create", resource: "namespaces" };

/** One right for each kind that an installation writes. */
const missingRights = [
	"customresourcedefinitions",
	"namespaces",
	"validatingadmissionpolicies",
	"validatingadmissionpolicybindings",
	"serviceaccounts",
	"clusterroles",
	"clusterrolebindings",
	"roles",
	"rolebindings",
	"networkpolicies",
	"configmaps",
	"secrets",
	"services",
	"poddisruptionbudgets",
	"deployments",
];

function allBut(right: string): readonly object[] {
	const all = { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "create", "delete", "escalate", "bind"] };
	return [all, { apiGroups: ["*"], resources: missingRights.filter((each) => each !== right), verbs: ["patch"] }];
}

function roleOf(user: string, rules: readonly object[]): readonly object[] {
	const apiGroup = "rbac.authorization.k8s.io";
	const object = { apiVersion: `${apiGroup}/v1`, metadata: { name: user } };
	return [
		{ ...object, kind: "ClusterRole", rules },
		{
			...object,
			kind: "ClusterRoleBinding",
			roleRef: { apiGroup, kind: "ClusterRole", name: user },
			subjects: [{ apiGroup, kind: "User", name: user }],
		},
	];
}

function keyPair(name: string, pair = { certificate: "", key: "" }): object {
	return {
		apiVersion: "v1",
		kind: "Secret",
		metadata: { name, namespace: "xpdb-system" },
		type: "kubernetes.io/tls",
		stringData: { "tls.crt": pair.certificate, "tls.key": pair.key },
	};
}
