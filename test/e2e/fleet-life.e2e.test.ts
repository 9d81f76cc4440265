// Tests the life of a fleet with the shipped file: it is installed, used, upgraded, extended and reduced, gets new certificates, and is
// removed to the last object.
import { afterAll, beforeAll, expect, test } from "vitest";
import { listObjects } from "../controlplane/list-objects.ts";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { type BareClusters, type Said, startBareClusters } from "./bare-clusters.ts";
import { eventually } from "./kubectl.ts";
import { clustersOf, isOpen, openShop, podsOf, shop, violations } from "./shop.ts";

const three = ["c1", "c2", "c3"];
const four = [...three, "c4"];
const dana = { name: "dana", group: "xpdb-operators" };
/** The CRD of the users' budgets, and the APIService that the API server creates for it. */
const budgetKind = [
	"customresourcedefinitions xpoddisruptionbudgets.x-pdb.form3.tech",
	"apiservices v1alpha1.x-pdb.form3.tech",
];

describeOnFleet("the life of a fleet", () => {
	let bare: BareClusters;
	let before: ReadonlyMap<string, readonly string[]>;

	beforeAll(async () => {
		bare = await startBareClusters(4, [dana], { nodes: 2, shipped: true });
		before = await objectsOf(four);
	});
	afterAll(async () => {
		await bare[Symbol.asyncDispose]();
	});

	async function objectsOf(names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
		const clusters = clustersOf(bare.fleet.clusters, names);
		return new Map(
			await Promise.all(clusters.map(async ({ name, client }) => [name, await listObjects(client)] as const)),
		);
	}

	const only = (names: readonly string[]) => clustersOf(bare.fleet.clusters, names);
	const addressesOf = (names: readonly string[]) =>
		only(names).flatMap(({ name, address }) => ["--address", `${name}=${address}:8444`]);

	/** Runs xpdb as the administrator. Fails unless the exit code is 0. */
	async function xpdb(names: readonly string[], ...words: readonly string[]): Promise<Said> {
		return done(await bare.xpdb([...words, "--contexts", names.join(",")]), words);
	}

	/** Runs xpdb as an operator. Fails unless the exit code is 0. */
	async function operate(names: readonly string[], ...words: readonly string[]): Promise<Said> {
		const contexts = names.map((name) => `${name}-${dana.name}`);
		return done(await bare.xpdb([...words, "--contexts", contexts.join(","), "-n", shop]), words);
	}

	/** Retries while the command reports running evictions. */
	async function uninstall(names: readonly string[]): Promise<void> {
		await eventually(`the end of the fleet in ${names.join(", ")}`, async () => {
			const said = await bare.xpdb(["uninstall", "-y", "--contexts", names.join(",")]);
			if (!said.err.includes("evictions are running, nothing was touched")) done(said, ["uninstall"]);
			return said.code === 0;
		});
	}

	function done(said: Said, words: readonly string[]): Said {
		expect({ words, code: said.code }, said.out + said.err).toEqual({ words, code: 0 });
		return said;
	}

	/** Drains both nodes of each cluster, one after the other, in all clusters at once. */
	async function drainAll(names: readonly string[]): Promise<void> {
		const pods = new Set((await Promise.all(only(names).map(podsOf))).flat().map(({ uid }) => uid));
		for (const number of [0, 1]) {
			const nodes = names.map((name) => `${name}-${dana.name}/${name}-n${number}`);
			await operate(names, "drain", ...nodes, "--ignore-daemonsets", "-y");
			await isOpen(only(names));
			await operate(names, "uncordon", ...nodes, "-y");
		}
		const now = (await Promise.all(only(names).map(podsOf))).flat();
		expect(now.filter(({ uid }) => pods.has(uid))).toEqual([]);
	}

	test("shows what it would do, and does it when it is told to: three clusters are one fleet, and all checks pass", async () => {
		const install = ["install", "--image", "example.com/agent:1", ...addressesOf(three)];
		const [pre, shown, again, unasked] = await Promise.all([
			xpdb(three, "check", "--pre"),
			xpdb(three, ...install, "--dry-run=client", "-o", "yaml"),
			xpdb(three, ...install, "--dry-run=client", "-o", "yaml"),
			bare.xpdb([...install, "--contexts", three.join(",")]),
		]);
		expect(pre.out).toMatch(/^(\d+) checks: \1 ok \(/m);
		expect(shown.out).not.toContain("kind: Secret");
		expect(again.out).toBe(shown.out);
		expect(unasked).toMatchObject({
			code: 1,
			err: expect.stringContaining("an installation needs a confirmation, and there is no terminal to ask on"),
		});
		expect(await objectsOf(four)).toEqual(before);

		const installed = await xpdb(three, ...install, "-y");
		expect(installed.out + installed.err).not.toContain("PRIVATE KEY");
		expect(installed.out).toMatch(/^(\d+) checks: \1 ok \(/m);
		await openShop(bare, three);
	});

	test("is used with an operator's rights alone, and holds its budget", async () => {
		const [version, check, budgets, explained, again, refused] = await Promise.all([
			operate(three, "version", "-o", "json"),
			operate(three, "check"),
			operate(three, "budgets"),
			operate(three, "explain", `c1-${dana.name}/pod/db-0`),
			xpdb(three, "install", "--image", "example.com/agent:1"),
			bare.xpdb(["upgrade", "--image", "example.com/agent:2", "--contexts", `c1-${dana.name}`, "-y"]),
			operate(three, "leases"),
		]);
		// Proves that the plugin called the agents of each cluster.
		expect((JSON.parse(version.out) as { readonly agents: readonly unknown[] }).agents).toEqual(
			three.map((name) =>
				expect.objectContaining({ cluster: name, gitVersion: expect.stringMatching(/^\d+\./) as string }),
			),
		);
		expect(check.out).toMatch(/^(\d+) checks: \1 ok \(/m);
		expect(budgets.out).toMatch(/^shop +db +1 +6 +5 +6/m);
		expect(explained.out).toContain("db-0");
		expect(again.out).toContain("Everything is as it should be: nothing was changed\n");
		expect(refused.code).toBe(1);

		const evicted = await operate(three, "evict", "-l", "app=db", "--for=replaced", "-y");
		expect(evicted.out.match(/^.*pod\/db-\d evicted/gm)).toHaveLength(6);
		expect(await violations(only(three))).toEqual([]);
	});

	test("changes no certificate in a dry run, which goes through all steps", async () => {
		const certificates = () => three.map(certificatesOf);
		const kept = certificates();
		const pretended: readonly (readonly [readonly string[], string])[] = [
			[["--rotate"], "The certificates are renewed"],
			[["--rotate", "--ca"], "The fleet has a new CA"],
			[["--keep-in=c2"], "c1: deleted Secret xpdb-fleet-ca"],
		];
		const dryRuns = [
			{ flag: "--dry-run=client", suffix: " (dry run)" },
			{ flag: "--dry-run=server", suffix: " (server dry run)" },
		];
		await Promise.all(
			pretended.flatMap(([words, last]) =>
				dryRuns.map(async ({ flag, suffix }) => {
					const { out } = await xpdb(three, "install", "certs", ...words, flag);
					const lines = out.trimEnd().split("\n");
					expect(lines.at(-1)).toBe(`${last}${suffix}`);
					expect(lines.filter((line) => !line.endsWith(suffix))).toEqual([]);
				}),
			),
		);
		expect(certificates()).toEqual(kept);
	});

	/** Returns all Secrets and ConfigMaps with their versions, and the Events about uses of the CA's key. */
	function certificatesOf(cluster: string): readonly string[] {
		const list = (kinds: string, line: string): readonly string[] =>
			bare
				.kubectl(cluster, ["get", kinds, "-n", "xpdb-system", "-o", `jsonpath={range .items[*]}${line}{"\\n"}{end}`])
				.trim()
				.split("\n");
		const objects = list("secrets,configmaps", "{.kind}/{.metadata.name} {.metadata.resourceVersion}");
		const events = list("events", "{.reason} {.metadata.name}");
		return [...objects, ...events.filter((line) => /^(CertificateSigned|CaCreated|CaKeyMoved) /.test(line))].toSorted();
	}

	test("gets new agents and new certificates while a drain goes on", async () => {
		const drains = drainAll(three);
		const upgraded = await xpdb(three, "upgrade", "--image", "example.com/agent:2", "-y");
		expect(upgraded.out.match(/^c\d {2}.* changed$/gm)?.toSorted()).toEqual(
			three.map((name) => `${name}  deployment.apps/xpdb-agent changed`),
		);
		const renewed = await xpdb(three, "install", "certs", "--rotate", "-y");
		expect(renewed.out).toContain("The certificates are renewed\n");
		await drains;
		const changed = await xpdb(three, "install", "certs", "--rotate", "--ca", "-y");
		expect(changed.out).toContain("The fleet has a new CA\n");
		expect(await violations(only(three))).toEqual([]);
	});

	test("is extended by a member, which its budgets count from then on", async () => {
		const extended = await xpdb(four, "install", ...addressesOf(["c4"]), "-y");
		expect(extended.out.match(/^c[123] {2}.* (created|changed)$/gm)?.toSorted()).toEqual(
			three.map((name) => `${name}  configmap/xpdb-fleet changed`),
		);
		await openShop(bare, ["c4"]);
		const since = Date.now();
		expect((await operate(four, "budgets")).out).toMatch(/^shop +db +1 +8 +7 +8/m);
		await drainAll(four);
		expect(await violations(only(four), since)).toEqual([]);
	});

	test("is shrunk by the member that kept the CA's key, in which only the users' own is left", async () => {
		const moved = await xpdb(four, "install", "certs", "--keep-in=c4", "-y");
		expect(moved.out).toMatch(/^c4: .*xpdb-fleet-ca/m);
		const forgotten = await xpdb(three, "fleet", "forget", "c4", "--confirm=c4");
		expect(forgotten.out).toContain("c1, c2, c3 agree: evictions continue without c4");
		const [, told = ""] =
			/^.*a new CA whose key c1 keeps: kubectl xpdb (.*)$/m.exec(forgotten.err + forgotten.out) ?? [];
		expect(told).toBe("install certs --rotate --ca --keep-in=c1 --contexts=c1,c2,c3");

		// After this, c4 must not bring its CA back.
		done(await bare.xpdb([...told.split(" "), "-y"]), [told]);
		const authorities = () =>
			three.map((name) =>
				bare.kubectl(name, ["get", "configmap", "xpdb-ca", "-n", "xpdb-system", "-o", "jsonpath={.data}"]),
			);
		const changed = authorities();
		expect(new Set(changed).size).toBe(1);
		const comesBack = async (why: string): Promise<void> => {
			const { code, err } = await bare.xpdb(["install", "--contexts", four.join(","), ...addressesOf(["c4"]), "-y"]);
			expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(why) });
		};
		await comesBack("c1 and c4 keep different CAs in Secret xpdb-fleet-ca");
		bare.kubectl("c4", ["delete", "secret", "xpdb-fleet-ca", "-n", "xpdb-system"]);
		await comesBack("the members trust different CAs");
		expect(authorities()).toEqual(changed);

		await uninstall(["c4"]);
		expect(await leftOf("c4")).toEqual([]);
		expect((await operate(three, "budgets")).out).toMatch(/^shop +db +1 +6 +5 +6/m);
	});

	test("is taken away to its last object, which a dry run names first, with what others put there", async () => {
		const [cluster = ""] = three;
		bare.kubectl(cluster, ["create", "configmap", "notes", "-n", "xpdb-system"]);
		for (const kind of ["client", "server"]) {
			await eventually(`a dry run for the ${kind}`, async () => {
				const said = await bare.xpdb(["uninstall", `--dry-run=${kind}`, "--contexts", three.join(",")]);
				if (said.err.includes("evictions are running")) return false;
				const { out, err } = done(said, ["uninstall", kind]);
				expect(out).toContain("  - configmap/notes in xpdb-system: not created by xpdb, goes with the namespace\n");
				expect(out).toContain(`deployment.apps/xpdb-agent deleted (${kind === "client" ? "" : "server "}dry run)\n`);
				expect(err).toContain("deletes 1 object in namespace xpdb-system that xpdb did not create (listed above)");
				return true;
			});
		}
		bare.kubectl(cluster, ["get", "deployment", "xpdb-agent", "-n", "xpdb-system"]);
		await uninstall(three);
		expect(await Promise.all(three.map(leftOf))).toEqual([[], [], []]);
		for (const name of four)
			expect(bare.kubectl(name, ["get", "xpoddisruptionbudgets", "-A", "-o", "name"])).not.toBe("");
		expect((await xpdb(three, "uninstall", "-y")).out).toBe("There is nothing to remove\n");
		await xpdb(four, "uninstall", "--delete-budgets", "-y");
		// Deletes all namespaces first, then waits for each.
		for (const more of [["--wait=false"], ["--ignore-not-found"]])
			for (const name of four) bare.kubectl(name, ["delete", "namespace", shop, ...more]);
		expect(await objectsOf(four)).toEqual(before);
	});

	/** Returns the new objects, except the users' own. */
	async function leftOf(cluster: string): Promise<readonly string[]> {
		const there = new Set(before.get(cluster));
		const objects = (await objectsOf([cluster])).get(cluster) ?? [];
		const isUsers = (object: string): boolean =>
			budgetKind.includes(object) || new RegExp(`[ /]${shop}(/|$)`).test(object);
		return objects.filter((object) => !there.has(object) && !isUsers(object));
	}
});
