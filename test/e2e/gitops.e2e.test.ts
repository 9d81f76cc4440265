// Tests a fleet that Flux syncs from a repository that `kubectl xpdb install` writes. flux-sync uses the library of Flux's controller.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fluxPrograms } from "../controlplane/go-programs.ts";
import { findPrograms } from "../controlplane/program-cache.ts";
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { type BareClusters, startBareClusters } from "./bare-clusters.ts";

const flux = await findPrograms(fluxPrograms);
const missing = flux.kind === "missing" ? flux.reason : undefined;
const both = ["--contexts", "c1,c2"];

describeOnFleet(
	"install for GitOps",
	() => {
		let bare: BareClusters;
		let repository = "";

		beforeAll(async () => {
			bare = await startBareClusters(2);
			repository = join(bare.fleet.dir, "clusters");
			// Flux's own installation also gives this account all rights.
			const subject = "--serviceaccount=flux-system:kustomize-controller";
			for (const cluster of ["c1", "c2"]) {
				bare.kubectl(cluster, ["create", "clusterrolebinding", "flux", "--clusterrole=cluster-admin", subject]);
			}
		});
		afterAll(async () => bare[Symbol.asyncDispose]());

		/** Returns what happened to each object, such as "Deployment/xpdb-system/xpdb-agent unchanged". */
		async function sync(cluster: string): Promise<readonly string[]> {
			if (flux.kind === "missing") throw new Error(flux.reason);
			const { fleet, kubectl } = bare;
			const folder = join(repository, cluster);
			// Flux's controller generates this file if it is missing.
			writeFileSync(join(folder, "kustomization.yaml"), "resources: [xpdb.yaml]\n");
			const objects = kubectl(cluster, ["kustomize", folder]);
			const flags = [`--kubeconfig=${fleet.kubeconfigPath}`, `--context=${cluster}`];
			const syncing = promisify(execFile)(flux.path("flux-sync"), flags);
			syncing.child.stdin?.end(objects);
			return (await syncing).stdout.trimEnd().split("\n");
		}

		async function syncAll(): Promise<readonly string[]> {
			return (await Promise.all([sync("c1"), sync("c2")])).flat();
		}

		const differing = (lines: readonly string[]): readonly string[] =>
			lines.filter((line) => !line.endsWith(" unchanged"));

		test("makes a fleet whose second sync changes nothing, also after an installation over it", async () => {
			const install = ["install", ...both, "--image", "example.com/agent:1", ...bare.addresses];
			const write = [...install, "--dry-run=client", `--output-dir=${repository}`];

			const written = await bare.xpdb(write);
			expect(written.code, written.err).toBe(0);
			expect(readdirSync(repository).toSorted()).toEqual(["c1", "c2"]);
			const files = ["c1", "c2"].map((name) => join(repository, name, "xpdb.yaml"));
			expect(written.out.trimEnd().split("\n")).toEqual(files);
			const texts = files.map((path) => readFileSync(path, "utf8"));
			for (const text of texts) expect(text).not.toMatch(/^kind: (Secret|Certificate)$|PRIVATE KEY/m);

			const first = await syncAll();
			expect(first.filter((line) => !line.endsWith(" created"))).toEqual([]);
			expect(first.length).toBe(texts.join("").match(/^kind: /gm)?.length);
			expect(differing(await syncAll())).toEqual([]);

			const installing = bare.xpdb([...install, "-y"]).then((said) => {
				expect(said.code, said.out + said.err).toBe(0);
				return said;
			});
			const [installed] = await Promise.all([installing, bare.bringCertificates()]);
			// Only the certificates are created. The CA's key is in the cluster of the first context.
			expect(installed.out.match(/^c\d {2}\S+ (created|changed)$/gm)?.toSorted()).toEqual([
				"c1  configmap/xpdb-ca created",
				"c1  secret/xpdb-agent-tls created",
				"c1  secret/xpdb-fleet-ca created",
				"c2  configmap/xpdb-ca created",
				"c2  secret/xpdb-agent-tls created",
			]);
			// Flux has all rights in its cluster, which a check warns about.
			expect(installed.out).toMatch(/^\d+ checks: \d+ ok, 1 warning \(/m);
			expect(installed.out).toContain("xpdb-fleet-ca can be read by flux-system/kustomize-controller: ");
			expect(differing(await syncAll())).toEqual([]);
			const again = await bare.xpdb(install);
			expect(again.out, again.err).toContain("Everything is as it should be: nothing was changed\n");
			await bare.xpdb(write);
			expect(files.map((path) => readFileSync(path, "utf8"))).toEqual(texts);
		});

		test("leaves what Flux keeps to Flux, which takes back what is changed by force", async () => {
			const upgrade = ["upgrade", ...both, "--image", "example.com/agent:2", "-y"];
			const refused = await bare.xpdb(upgrade);
			expect(refused.code).toBe(1);
			expect(refused.err).toContain("fields that would change are managed by others");
			expect(refused.out).toContain("kept by kustomize-controller");
			expect(refused.err).toContain(
				"kustomize-controller takes back what --force-conflicts changes: write the objects into the repository instead",
			);
			expect(differing(await syncAll())).toEqual([]);
			const forced = await bare.xpdb([...upgrade, "--force-conflicts"]);
			expect(forced.code, forced.out + forced.err).toBe(0);
			const configured = "Deployment/xpdb-system/xpdb-agent configured";
			expect(differing(await syncAll())).toEqual([configured, configured]);
			expect(differing(await syncAll())).toEqual([]);
		});
	},
	{ missing },
);
