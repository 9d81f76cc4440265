// Tests `kubectl xpdb leases` on real clusters, as a user who may not read Leases.
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leaseName } from "../../disruption/lease/lease.ts";
import { stateAnnotation } from "../../disruption/lease/lease-text.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { createValidator, strictSchema } from "../support/json-schema.ts";
import { createDatabase, type Database } from "./database.ts";
import { evictArgs } from "./evict-args.ts";
import { eventually, inTheAgentsName, kubectl } from "./kubectl.ts";
import { plugin, startPlugin } from "./plugin-process.ts";

const contexts = ["--contexts", "c1-operator,c2-operator,c3-operator"];
const me = `${userInfo().username}@${hostname()}`;
const operation = expect.stringMatching(/^evict [0-9a-f]{6}$/);
const validate = createValidator(strictSchema("leases-v1"));

interface Documented {
	readonly items: readonly {
		readonly context: string;
		readonly holding?: object;
		readonly waiting?: number;
		readonly reserved: number;
		readonly problem?: string;
	}[];
	readonly problems: readonly string[];
}

async function leasesOf({ namespace }: Database, ...args: readonly string[]) {
	const { stdout, stderr, code } = await plugin([
		"leases",
		"-n",
		namespace,
		...(args.length > 0 ? args : contexts),
		"-o",
		"json",
	]);
	const document = JSON.parse(stdout) as Documented;
	expect(validate(document), stderr).toEqual([]);
	return { ...document, code, stderr };
}

async function contextWithoutServer() {
	const folder = await mkdtemp(join(tmpdir(), "xpdb-gone-"));
	const path = join(folder, "kubeconfig");
	await writeFile(
		path,
		JSON.stringify({
			apiVersion: "v1",
			kind: "Config",
			clusters: [{ name: "gone", cluster: { server: "https://127.0.0.1:1" } }],
			users: [{ name: "gone", user: { token: "none" } }],
			contexts: [{ name: "gone", context: { cluster: "gone", user: "gone" } }],
		}),
	);
	return {
		environment: { KUBECONFIG: `${sharedFleet().kubeconfigPath}:${path}` },
		[Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
	};
}

function itemsOf(output: string): Documented["items"] {
	return output
		.split("\n")
		.filter((line) => line.startsWith("{"))
		.flatMap((line) => (JSON.parse(line) as Documented).items);
}

describeOnFleet("kubectl xpdb leases", () => {
	test("shows who holds a Lease, by whose token, who waits for it, and the pod that was granted", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { namespace } = database;
		expect(await leasesOf(database)).toMatchObject({ items: [], code: 0 });
		using watch = startPlugin(["leases", "db", "-n", namespace, ...contexts, "-w", "-o", "json"]);
		await watch.printed('"problems":[]');
		const evict = evictArgs(database, { name: "db-0", context: "c1" });
		using run = startPlugin(evict, { XPDB_PAUSE_POINT: "after-acquire" });
		await run.asleep();

		// Agents release the Leases of the paused run after 20 s. The watch reports every second.
		const holding = { person: me, operation };
		for (const cluster of ["c1", "c2", "c3"]) {
			await watch.printed(new RegExp(`"context":"${cluster}-operator"[^\\n]*"holding":`));
			const item = itemsOf(watch.output()).find((each) => each.context === `${cluster}-operator` && each.holding);
			expect(item).toMatchObject({ cluster, budget: `${namespace}/db`, fence: 1, holding, reserved: 0 });
		}
		const held = watch.output();
		// The output must not contain the nonce that identifies the holder to the agents.
		const { metadata } = JSON.parse(
			await kubectl("c1", ["get", "lease", leaseName({ namespace, name: "db" }), "-n", "xpdb-system", "-o", "json"]),
		) as { readonly metadata: { readonly annotations: Readonly<Record<string, string>> } };
		const { nonce } = JSON.parse(metadata.annotations[stateAnnotation] ?? "") as { readonly nonce: string };
		expect(nonce).not.toBe("");
		expect(held).not.toContain(nonce);
		run.child.kill("SIGCONT");
		expect(await run.finished).toMatchObject({ code: 0 });
		await eventually("nobody to hold them", async () =>
			(await leasesOf(database)).items.every((item) => item.holding === undefined),
		);
	});

	test.concurrent("shows a granted pod until it is seen going, and each change to who watches", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { namespace } = database;
		using watch = startPlugin(["leases", "-n", namespace, ...contexts, "-w", "-o", "json"]);
		await watch.printed('"problems":[]');
		using run = startPlugin(evictArgs(database, { name: "db-0", context: "c1" }), { XPDB_PAUSE_POINT: "after-commit" });
		await run.asleep();

		expect((await leasesOf(database, "--context", "c1-operator")).items).toMatchObject([
			{ reserved: 1, reservations: [{ pod: `${namespace}/db-0`, person: me, operation, cancelling: false }] },
		]);
		const wide = await plugin(["leases", "-n", namespace, "--context", "c1-operator", "-o", "wide"]);
		expect(wide.stdout).toMatch(
			new RegExp(`^${namespace} +db +c1-operator +db-0 +Reserved +\\d+s ago +in \\d+s +${me} +evict `, "m"),
		);
		await watch.printed('"reserved":1');
		run.child.kill("SIGCONT");
		expect(await run.finished).toMatchObject({ code: 0 });
		await watch.printed(/"reserved":1[\s\S]*\n[^\n]*"context":"c1-operator"[^\n]*"reserved":0/);
		watch.child.kill("SIGINT");
		const { code, stdout } = await watch.finished;
		expect(code).toBe(130);
		const documents = stdout
			.trimEnd()
			.split("\n")
			.map((line) => JSON.parse(line) as unknown);
		expect(documents.flatMap(validate)).toEqual([]);
	});

	test.concurrent("ends without a word where nobody reads on", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		expect(await plugin(evictArgs(database, { name: "db-0", context: "c1" }))).toMatchObject({ code: 0 });
		const { dir, kubeconfigPath } = sharedFleet();
		const line = `"${join(dir, "bin", "kubectl-xpdb")}" leases -n ${database.namespace} --context c1-operator -w; echo "code $?" >&2`;
		const shell = spawn("bash", ["-c", `{ ${line}; } | head -1`], {
			env: { ...process.env, KUBECONFIG: kubeconfigPath },
			stdio: ["ignore", "pipe", "pipe"],
		});
		const closed = new Promise((resolve) => shell.once("close", resolve));
		let [out, err] = ["", ""];
		shell.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
		shell.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
		// The command notices a closed output only when it writes, so the next round changes the Lease.
		await eventually("the headers", async () => out !== "");
		const again = await plugin(evictArgs(database, { name: "db-0", context: "c1" }));
		expect(again).toMatchObject({ code: 0 });
		await closed;
		expect(out).toMatch(/^BUDGET +CONTEXT .*\n$/);
		expect(err).toBe("code 0\n");
	});

	test.concurrent("shows a Lease that nobody can read, with why", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { namespace } = database;
		expect(await plugin(evictArgs(database, { name: "db-0", context: "c1" }))).toMatchObject({ code: 0 });
		const lease = leaseName({ namespace, name: "db" });
		await kubectl("c2", [
			"annotate",
			"lease",
			lease,
			"-n",
			"xpdb-system",
			`${stateAnnotation}={`,
			"--overwrite",
			...inTheAgentsName,
		]);
		await eventually("the agents of c2 to see it", async () =>
			(await leasesOf(database)).items.some((item) => item.problem !== undefined),
		);
		const { code, stdout, stderr } = await plugin(["leases", "-n", namespace, ...contexts]);
		expect(stdout).toMatch(new RegExp(`^db +c2-operator +unreadable( +\\?){4}$`, "m"));
		expect(stdout).toMatch(new RegExp(`^db +c3-operator +- +- +- +0 +0$`, "m"));
		expect(stderr).toMatch(
			new RegExp(`^c2-operator: the Lease of budget ${namespace}/db cannot be read: .* is not JSON`, "m"),
		);
		expect(code).toBe(0);
		// An unreadable Lease would make later tests fail.
		await kubectl("c2", ["delete", "lease", lease, "-n", "xpdb-system", ...inTheAgentsName]);
	});

	test.concurrent("names the context that gives no answer and the right that is missing, and shows the others", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const { namespace } = database;
		expect(await plugin(evictArgs(database, { name: "db-0", context: "c1" }))).toMatchObject({ code: 0 });
		await kubectl("c1", ["create", "serviceaccount", `team-${namespace}`, "-n", "xpdb-system"]);
		try {
			const nobody = await plugin([
				"leases",
				"-n",
				namespace,
				"--context",
				"c1",
				"--agent-account",
				`team-${namespace}`,
			]);
			expect(nobody).toMatchObject({ code: 1, stdout: "" });
			expect(nobody.stderr).toBe(
				`error: c1: User "system:serviceaccount:xpdb-system:team-${namespace}" may not acquire xpoddisruptionbudgets.x-pdb.form3.tech in namespace "${namespace}" of cluster "c1"\n`,
			);
		} finally {
			await kubectl("c1", ["delete", "serviceaccount", `team-${namespace}`, "-n", "xpdb-system"]);
		}
		await using gone = await contextWithoutServer();
		const silent = await plugin(["leases", "-n", namespace, "--contexts", "c1-operator,gone"], gone.environment);
		expect(silent.stdout).toMatch(/^db +c1-operator /m);
		expect(silent.stderr).toMatch(/^error: gone: .*127\.0\.0\.1:1\b/m);
		expect(silent.code).toBe(4);
	});
});
