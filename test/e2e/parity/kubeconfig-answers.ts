// Asks kubectl and kubectl xpdb how they read a kubeconfig: the chosen context, the server, and whether they run its credential program.
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { isRecord } from "../../../disruption/record.ts";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { createCredentialReader } from "../../../plugin/kubernetes/api-credentials.ts";
import { resolveConnection } from "../../../plugin/kubernetes/connection.ts";
import { loadKubeconfig } from "../../../plugin/kubernetes/kubeconfig.ts";
import { type KubeconfigRow, neighbours } from "./kubeconfig-row.ts";

export interface KubeconfigAnswer {
	/**
	 * The current context with its cluster and user, as in `config view --minify`. Undefined if the kubeconfig is refused, or if one of them
	 * does not exist.
	 */
	readonly view?: unknown;
	/** HOST:PORT, or "a server" if kubectl's message does not name the server. Undefined if the program calls no server. */
	readonly asks?: string | undefined;
	/** Whether `./login` was run. */
	readonly ran?: true | undefined;
	/** The error message. Answers are compared without it. */
	readonly error?: string | undefined;
}

export async function askKubectl(kubectl: string, row: KubeconfigRow): Promise<KubeconfigAnswer> {
	return inFolder(row, async ({ folder, env, ran }) => {
		const view = await run(kubectl, ["config", "view", "--raw", "--minify", "-o", "json"], env);
		if (view.code !== 0 && !/cannot locate (cluster|user)/.test(view.stderr))
			return { error: withoutFolder(folder, errorOf(view)) };
		const get = await run(kubectl, ["get", "--raw", "/"], env);
		const [, asked] = /The connection to the server (\S+) was refused/.exec(get.stderr) ?? [];
		// Without credentials, kubectl asks for a user name and reads the end of its input.
		const isAccepted = /The connection to the server|Unable to connect to the server|^error: EOF/m.test(get.stderr);
		return withoutPath(folder, {
			view: view.code === 0 ? prune(chosen(JSON.parse(view.stdout))) : undefined,
			asks: isAccepted ? (asked ?? "a server") : undefined,
			ran: ran(),
			error: asked === undefined ? errorOf(get) : undefined,
		});
	});
}

export async function askOurselves(row: KubeconfigRow): Promise<KubeconfigAnswer> {
	return inFolder(row, async ({ folder, env, ran }) => {
		let view: unknown;
		try {
			const flags = readGlobalFlags({});
			const kubeconfig = loadKubeconfig(flags, env);
			const { contexts, clusters, users, currentContext } = kubeconfig;
			const context = contexts.get(currentContext);
			const { cluster = "", user = "" } = context ?? {};
			const isWhole = (cluster === "" || clusters.has(String(cluster))) && (user === "" || users.has(String(user)));
			if (context !== undefined && isWhole) {
				view = prune({
					clusters: cluster !== "" && [{ name: cluster, cluster: clusters.get(String(cluster)) }],
					users: user !== "" && [{ name: user, user: users.get(String(user)) }],
					contexts: [{ name: currentContext, context }],
					"current-context": currentContext,
				});
			}
			const connection = resolveConnection(kubeconfig, undefined, flags, {});
			const reader = createCredentialReader(connection);
			try {
				await reader.current();
			} catch (error) {
				if (!String(error).includes("getting credentials")) throw error;
			} finally {
				reader.close();
			}
			return withoutPath(folder, { view, asks: new URL(connection.server).host, ran: ran() });
		} catch (error) {
			return withoutPath(folder, { view, ran: ran(), error: error instanceof Error ? error.message : String(error) });
		}
	});
}

export function comparable({ view, asks, ran }: KubeconfigAnswer): KubeconfigAnswer {
	// Without a cluster, kubectl calls this server and xpdb none (deliberate-differences.ts).
	return { view, asks: asks === "localhost:8080" ? undefined : asks && "a server", ran };
}

interface Folder {
	readonly folder: string;
	readonly env: NodeJS.ProcessEnv;
	readonly ran: () => true | undefined;
}

async function inFolder(
	row: KubeconfigRow,
	work: (folder: Folder) => Promise<KubeconfigAnswer>,
): Promise<KubeconfigAnswer> {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-kubeconfig-"));
	try {
		for (const [name, content] of Object.entries(neighbours)) writeFileSync(join(folder, name), content);
		chmodSync(join(folder, "login"), 0o755);
		const paths = row.files.map((file, index) => {
			const path = join(folder, index === 0 ? "config" : `config-${index}`);
			writeFileSync(path, file);
			return path;
		});
		const env = { PATH: process.env["PATH"], HOME: folder, KUBECONFIG: paths.join(delimiter) };
		return await work({ folder, env, ran: () => existsSync(join(folder, "ran")) || undefined });
	} finally {
		rmSync(folder, { recursive: true });
	}
}

/** Returns the first line that is not from kubectl's log. */
function errorOf({ stderr }: Ended): string {
	return (stderr.split("\n").find((line) => !/^[EWI]\d{4} /.test(line)) ?? "").slice(0, 200);
}

interface Ended {
	readonly code: number;
	readonly stdout: string;
	readonly stderr: string;
}

function run(program: string, line: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
	return new Promise((resolve) => {
		const child = execFile(program, line, { env, timeout: 60_000 }, (error, stdout, stderr) =>
			resolve({ code: error === null ? 0 : 1, stdout, stderr }),
		);
		child.stdin?.end();
	});
}

function chosen(view: unknown): unknown {
	const { clusters, users, contexts, "current-context": current } = isRecord(view) ? view : {};
	return { clusters, users, contexts, "current-context": current };
}

function withoutFolder(folder: string, text: string): string {
	return text.replaceAll(`${folder}/`, "");
}

function withoutPath(folder: string, answer: KubeconfigAnswer): KubeconfigAnswer {
	return JSON.parse(withoutFolder(folder, JSON.stringify(answer))) as KubeconfigAnswer;
}

/** Removes empty values, because kubectl's JSON contains some, and the leading "./" of paths. */
function prune(value: unknown): unknown {
	if (Array.isArray(value))
		return value.length === 0
			? undefined
			: value.map((item: unknown) => (typeof item === "string" ? item : (prune(item) ?? {})));
	if (typeof value === "string") return value === "" ? undefined : value.replace(/^\.\//, "");
	if (!isRecord(value)) return value === null || value === false ? undefined : value;
	const fields = Object.entries(value)
		.map(([key, each]) => [key, prune(each)] as const)
		.filter(([, each]) => each !== undefined)
		.toSorted(([a], [b]) => (a < b ? -1 : 1));
	return fields.length === 0 ? undefined : Object.fromEntries(fields);
}
