// Tests installations in a namespace of another name: with cert-manager or a person's own certificates, late load balancers, agents of
// another size, and a team's account. cert-manager and the cloud are simulated.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentServerName } from "../../proto/credentials.ts";
import { memberUri } from "../../proto/member-certificate.ts";
import { createAuthority, signAgentCertificate } from "../../plugin/install/sign-certificates.ts";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { type BareClusters, type Said, startBareClusters } from "./bare-clusters.ts";
import { eventually } from "./kubectl.ts";
import { certManagerKinds, playCertManager } from "./played-cert-manager.ts";
import { giveAddress, sayTrouble, takeBalancerAway } from "./played-cloud.ts";
import { openShop, shop } from "./shop.ts";

const clusters = ["c1", "c2"] as const;
const anchor = "fleet-agents";
const team = "cn=shop,ou=people";
const people = [
	{ name: "ann", group: team },
	{ name: "olga", group: "sre" },
	{ name: "dana", group: "xpdb-operators" },
];

describeOnFleet("an installation of another kind", () => {
	let bare: BareClusters;
	let authority: Awaited<ReturnType<typeof createAuthority>>;

	beforeAll(async () => {
		[bare, authority] = await Promise.all([
			startBareClusters(2, people, { agentNamespace: anchor }),
			createAuthority(new Date()),
		]);
	});

	afterAll(async () => {
		await bare[Symbol.asyncDispose]();
	});

	const inAnchor = (words: readonly string[], namespace = anchor): readonly string[] => [
		...words,
		"--contexts",
		bare.contexts(),
		...(namespace === "xpdb-system" ? [] : [`--agent-namespace=${namespace}`]),
	];

	function install(flags: readonly string[] = []): Promise<Said> {
		return bare.xpdb(inAnchor(["install", "--image", "example.com/agent:1", "-y", ...flags]));
	}

	function apply(cluster: string, objects: readonly object[]): void {
		const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
		bare.kubectl(cluster, ["apply", "--server-side", "--field-manager=vault", "-f", "-"], list);
	}

	/** Returns "kind/name" and version of each object in the agents' namespace. */
	function versions(cluster: string, kinds: string): readonly string[] {
		const line = '{range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}';
		return bare
			.kubectl(cluster, ["get", kinds, "-n", anchor, "-o", `jsonpath=${line}`])
			.trim()
			.split("\n")
			.toSorted();
	}

	const names = (cluster: string, kinds: string): readonly string[] =>
		versions(cluster, kinds).map((line) => line.split(" ")[0] ?? "");

	function expectRefused({ code, out, err }: Said, ...says: readonly (string | RegExp)[]): void {
		expect(code, out + err).toBe(1);
		for (const text of says) expect(err).toMatch(text);
		expect(out).not.toMatch(/^c\d {2}.* (created|changed|deleted)$/m);
	}

	function expectInstalled({ code, out, err }: Said): void {
		expect(code, out + err).toBe(0);
		expect(out).toMatch(/^(\d+) checks: \1 ok \(/m);
		expect(out + err).not.toContain("PRIVATE KEY");
	}

	const balancer = (cluster: string) => ({ cluster, namespace: anchor, name: "xpdb-peers" });

	const addressOf = (cluster: string): string =>
		bare.fleet.clusters.find(({ name }) => name === cluster)?.address ?? "";

	/** Returns a host name that needs no DNS: only the system's resolver reads it as an address. */
	const nameOf = (cluster: string): string => {
		const bytes = addressOf(cluster)
			.split(".")
			.map((byte) => Number(byte).toString(16).padStart(2, "0"));
		return `0x${bytes.join("")}`;
	};

	/** Starts xpdb. `says` resolves when the text is in its error output. */
	function begin(words: readonly string[]) {
		const seen = new Set<() => void>();
		let said = { out: "", err: "" };
		const end = bare.xpdb(inAnchor(words), {
			onSaid(more) {
				said = more;
				for (const look of seen) look();
			},
		});
		const says = (text: string): Promise<void> =>
			new Promise((resolve, reject) => {
				const look = (): void => {
					if (said.err.includes(text)) resolve();
				};
				seen.add(look);
				look();
				void end.then(() => reject(new Error(`It ended and did not say "${text}": ${said.out}${said.err}`)));
			});
		return { end, says };
	}

	function expectNothingLists(): void {
		for (const cluster of clusters) {
			expect(names(cluster, "configmaps,deployments")).toEqual(["ConfigMap/kube-root-ca.crt", "ConfigMap/xpdb-ca"]);
		}
	}

	function certificateOf(clusterId: string) {
		const [dnsName, uri] = [agentServerName(anchor), memberUri(clusterId)];
		return signAgentCertificate(authority, { commonName: "agents", dnsName, uri, now: new Date() });
	}

	function mayEvictIn(where: string): boolean {
		try {
			return bare
				.kubectl("c1-ann", ["auth", "can-i", "create", "pods", "--subresource=eviction", "-n", where])
				.startsWith("yes");
		} catch {
			return false;
		}
	}

	test("asks cert-manager for certificates, in every cluster or in none, and takes what came of it away", async () => {
		const file = join(bare.fleet.dir, "ca.crt");
		writeFileSync(file, authority.certificate);
		const issuer = ["--certs=cert-manager", "--cert-issuer=ClusterIssuer/corp"];
		const own = ["--certs=cert-manager", ...bare.addresses];
		const [unknown, noAuthority, noKind] = await Promise.all([
			install(issuer),
			install(own),
			install([...issuer, `--ca-cert=${file}`]),
		]);
		expectRefused(unknown, /c1: ConfigMap fleet-agents\/xpdb-ca does not exist, so the issuer's CA is unknown/);
		expectRefused(
			noAuthority,
			/c1: cert-manager signs with the CA in Secret fleet-agents\/xpdb-fleet-ca, which is not/,
		);
		for (const cluster of clusters) {
			expectRefused(
				noKind,
				`${cluster}: cannot apply certificate.cert-manager.io/xpdb-agent: there is no Certificate of cert-manager.io/v1 in`,
			);
			expect(await bare.ours(cluster)).toEqual([]);
			apply(cluster, certManagerKinds);
			const { certificate, key } = authority;
			apply(cluster, [namespace(anchor), pair("xpdb-fleet-ca", { certificate, key })]);
			bare.kubectl(cluster, ["wait", "--for=condition=Established", "crd", "--all"]);
		}
		const shown = await install([...issuer, `--ca-cert=${file}`, "--dry-run=client", "-o", "yaml"]);
		expect(shown.out).toMatch(/^ {4}kind: ClusterIssuer\n {4}name: corp$/m);
		expect(shown.out).not.toContain("kind: Secret");

		const played = bare.fleet.clusters.map((cluster) => playCertManager(cluster, { namespace: anchor, authority }));
		try {
			const installed = await install(own);
			expectInstalled(installed);
			for (const cluster of clusters) {
				expect(installed.out).toContain(
					`${cluster}: cert-manager has the agents' certificate from Issuer xpdb-fleet-ca\n`,
				);
				expect(names(cluster, "issuers,certificates")).toEqual(["Certificate/xpdb-agent", "Issuer/xpdb-fleet-ca"]);
			}
			expect((await install(own)).out).toContain("Everything is as it should be: nothing was changed\n");
		} finally {
			await Promise.all(played.map((each) => each[Symbol.asyncDispose]()));
		}
		const removed = await bare.xpdb(inAnchor(["uninstall", "-y"]));
		expect(removed.code, removed.out + removed.err).toBe(0);
		for (const cluster of clusters) {
			expect(names(cluster, "secrets,issuers,certificates,configmaps,services,deployments")).toEqual([
				"ConfigMap/kube-root-ca.crt",
				"Secret/xpdb-fleet-ca",
			]);
			bare.kubectl(cluster, ["delete", "secret", "xpdb-fleet-ca", "-n", anchor]);
		}
	});

	test("goes on with a person's own certificates, and lists load balancers when they have an address", async () => {
		const flags = [
			"--certs=existing",
			"--expose=loadbalancer",
			"--operators=sre",
			`--operators=${team}=team-shop:${shop}`,
		];
		const [first, second] = await Promise.all(bare.fleet.clusters.map(({ id }) => certificateOf(id)));
		if (!first || !second) throw new Error("There are two clusters");
		const trusted = { ...named("ConfigMap", "xpdb-ca"), data: { "ca.crt": authority.certificate } };
		for (const cluster of clusters) {
			apply(cluster, [namespace(shop), namespace("bank"), trusted, pair("xpdb-agent-tls", first)]);
		}
		expectRefused(await install(flags), /c2: Secret fleet-agents\/xpdb-agent-tls: it is for cluster id ".+", not for/);
		apply("c2", [pair("xpdb-agent-tls", second)]);
		sayTrouble(bare, balancer("c2"), "the quota of load balancers is used up");
		const late = await install([...flags, "--timeout=1s"]);
		expect(late.code, late.out + late.err).toBe(2);
		for (const [cluster, why] of [
			["c1", ";"],
			["c2", " (SyncLoadBalancerFailed: the quota of load balancers is used up);"],
		]) {
			expect(late.out).toContain(
				`${cluster}: its address comes from service/xpdb-peers, a load balancer; it is waited for, and then put into the list of every member\n`,
			);
			expect(late.err).toMatch(new RegExp(`^error: ${cluster}: after \\d s service/xpdb-peers: `, "m"));
			expect(late.err).toContain(
				`: its load balancer has no address yet${why} see kubectl describe service xpdb-peers`,
			);
		}
		expectNothingLists();

		const going = begin(["install", "--image", "example.com/agent:1", "-y", "--timeout=2m", ...flags]);
		await going.says("c1  service/xpdb-peers: its load balancer has no address yet\n");
		await going.says("c2  service/xpdb-peers: its load balancer has no address yet\n");
		giveAddress(bare, balancer("c1"), { hostname: nameOf("c1") });
		await going.says(`c1  others reach its agents at ${nameOf("c1")}:8444, the load balancer\n`);
		expectNothingLists();
		giveAddress(bare, balancer("c2"), { ip: addressOf("c2") });
		const installed = await going.end;
		expectInstalled(installed);
		for (const cluster of clusters) {
			const members = bare.kubectl(cluster, [
				"get",
				"configmap",
				"xpdb-fleet",
				"-n",
				anchor,
				"-o",
				"jsonpath={.data.members}",
			]);
			for (const address of [nameOf("c1"), addressOf("c2")]) expect(members).toContain(`address: ${address}:8444\n`);
		}
	});

	test("changes nothing the second time, and leaves the installation of one namespace to those who name it", async () => {
		const all = "configmaps,secrets,services,serviceaccounts,roles,rolebindings,networkpolicies,poddisruptionbudgets";
		const before = clusters.map((cluster) => versions(cluster, all));
		const [again, typed, ...elsewhere] = await Promise.all([
			install(),
			install(["--certs=existing", "--expose=loadbalancer", "--operators=sre"]),
			bare.xpdb(inAnchor(["install", "--image", "example.com/agent:2", "-y"], "xpdb-system")),
			bare.xpdb(inAnchor(["uninstall", "-y"], "other")),
		]);
		for (const said of [again, typed]) {
			expectInstalled(said);
			expect(said.out).toContain("Everything is as it should be: nothing was changed\n");
		}
		for (const said of elsewhere) {
			for (const cluster of clusters)
				expectRefused(said, `${cluster}: xpdb is installed in namespace ${anchor} there, `);
			expect(said.err).toContain(`Use --agent-namespace=${anchor}`);
		}
		expect(clusters.map((cluster) => versions(cluster, all))).toEqual(before);
	});

	test("keeps the agents' size that a person has set, shows it, and changes it where flags say so", async () => {
		const inNamespace = ["-n", anchor];
		const ofAgent = (path: string): string =>
			bare.kubectl("c1", ["get", "deployment/xpdb-agent", ...inNamespace, "-o", `jsonpath={.spec${path}}`]);
		const limit = ".template.spec.containers[0].resources.limits.memory";
		bare.kubectl("c1", ["set", "resources", "deployment/xpdb-agent", "--limits=memory=512Mi", ...inNamespace]);
		bare.kubectl("c2", ["scale", "deployment/xpdb-agent", "--replicas=3", ...inNamespace]);
		const settings = ["--agent-cpu=c2=30m", "--agent-annotations=c1=example.com/size=large"];
		const [planned, back, foolish] = await Promise.all([
			install([...settings, "--dry-run=server"]),
			install(["--agent-memory=c1="]),
			install(["--agent-memory=c3=1Gi"]),
		]);
		expect(planned.code, planned.out + planned.err).toBe(0);
		expect(planned.out).toContain(
			'Agents of c1: memory 512Mi, 80Mi of it requested (kept), annotations {"example.com/size":"large"}\n' +
				"Agents of c2: CPU 30m, 3 replicas (kept)\n",
		);
		expectRefused(back, /--force-conflicts/);
		expect(back.out).toMatch(
			/ {6}\.spec\.template\.spec\.containers\[name="agent"\]\.resources\.limits\.memory, kept by kubectl/,
		);
		expectRefused(foolish, /--agent-memory names no member that has a context here: "c3=1Gi"/);
		const [kept, taken] = [await install(settings), await install(["--agent-memory=c1=", "--force-conflicts"])];
		expectInstalled(kept);
		expectInstalled(taken);
		expect(ofAgent(limit)).toBe("224Mi");
		expect(ofAgent(".template.metadata.annotations")).toBe('{"example.com/size":"large"}');
	}, 180_000);

	test("lets a team's people evict in their namespace, and the operators everywhere, and names what others may not", async () => {
		await openShop(bare, clusters);
		for (const cluster of clusters) apply(cluster, [...bank, ...mayEvict(team, "bank")]);
		for (const cluster of clusters) bare.kubectl(cluster, ["rollout", "status", "statefulset/db", "-n", "bank"]);
		await eventually("ann's right to evict in bank", async () => mayEvictIn("bank"));
		const evict = (person: string, inNamespace: string): Promise<Said> =>
			bare.xpdb(["evict", "db-0", "-n", inNamespace, "--context", `c1-${person}`, `--agent-namespace=${anchor}`]);
		// One context is enough: agents reach those of the other cluster through its load balancer.
		const [own, others, stranger] = await Promise.all([evict("ann", shop), evict("ann", "bank"), evict("dana", shop)]);
		expect(own.code, own.out + own.err).toBe(0);
		expect(own.out).toContain("pod/db-0 evicted\n");
		expect(others.code, others.out + others.err).not.toBe(0);
		expect(others.err).toContain(
			`User "system:serviceaccount:${anchor}:team-shop" may not acquire xpoddisruptionbudgets.x-pdb.form3.tech "db" in namespace "bank"`,
		);
		expect(stranger.code, stranger.out + stranger.err).not.toBe(0);
		expect(stranger.err).toContain('User "dana" cannot ');
		const everywhere = await evict("olga", "bank");
		expect(everywhere.code, everywhere.out + everywhere.err).toBe(0);
		expect(everywhere.out).toContain("pod/db-0 evicted\n");
	});

	test("goes when its load balancers are gone, and leaves a person's certificates as they were", async () => {
		const kept = ["ConfigMap/xpdb-ca", "Secret/xpdb-agent-tls"];
		const theirs = (cluster: string): readonly string[] =>
			versions(cluster, "configmaps,secrets").filter((line) => kept.some((name) => line.startsWith(`${name} `)));
		const before = clusters.map(theirs);
		// --force, because the last eviction's reservation may still be recorded.
		const going = begin(["uninstall", "--force", "-y"]);
		await Promise.all(clusters.map((cluster) => takeBalancerAway(bare, balancer(cluster))));
		const { code, out, err } = await going.end;
		expect(code, out + err).toBe(0);
		for (const cluster of clusters) {
			expect(out).toContain(`${cluster}: nothing of xpdb's own is left\n`);
			for (const name of ["secret/xpdb-agent-tls", "configmap/xpdb-ca"]) {
				expect(out).toContain(`${cluster}: ${name} stays: not created by xpdb\n`);
			}
			expect(await bare.ours(cluster)).toEqual(["configmaps xpdb-ca", "secrets xpdb-agent-tls"]);
		}
		expect(clusters.map(theirs)).toEqual(before);
	});
});

function namespace(name: string): object {
	return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

function named(kind: string, name: string): object {
	return { apiVersion: "v1", kind, metadata: { name, namespace: anchor } };
}

function pair(name: string, { certificate, key }: { readonly certificate: string; readonly key: string }): object {
	const stringData = { "tls.crt": certificate, "tls.key": key };
	return { ...named("Secret", name), type: "kubernetes.io/tls", stringData };
}

const bankPods = { matchLabels: { app: "db" } };

const bank: readonly object[] = [
	{
		apiVersion: "apps/v1",
		kind: "StatefulSet",
		metadata: { name: "db", namespace: "bank" },
		spec: {
			serviceName: "db",
			selector: bankPods,
			template: {
				metadata: { labels: bankPods.matchLabels },
				spec: { containers: [{ name: "db", image: "example.com/db:1" }] },
			},
		},
	},
	{
		apiVersion: "x-pdb.form3.tech/v1alpha1",
		kind: "XPodDisruptionBudget",
		metadata: { name: "db", namespace: "bank" },
		spec: { maxUnavailable: 1, selector: bankPods },
	},
];

/** Allows evicting pods in a namespace, but not deciding about budgets. */
function mayEvict(group: string, where: string): readonly object[] {
	const apiGroup = "rbac.authorization.k8s.io";
	const object = { apiVersion: `${apiGroup}/v1`, metadata: { name: "evict-pods", namespace: where } };
	const rules = [
		{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
		{ apiGroups: [""], resources: ["pods/eviction"], verbs: ["create"] },
	];
	return [
		{ ...object, kind: "Role", rules },
		{
			...object,
			kind: "RoleBinding",
			roleRef: { apiGroup, kind: "Role", name: "evict-pods" },
			subjects: [{ apiGroup, kind: "Group", name: group }],
		},
	];
}
