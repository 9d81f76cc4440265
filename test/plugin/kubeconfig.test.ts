import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readGlobalFlags } from "../../plugin/global-flags.ts";
import { loadKubeconfig, resolveConnection } from "../../plugin/kubeconfig.ts";

const folder = mkdtempSync(join(tmpdir(), "xpdb-kubeconfig-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string): string {
	const path = join(folder, name);
	mkdirSync(join(path, ".."), { recursive: true });
	writeFileSync(path, content);
	return path;
}

const first = write(
	"first",
	`
current-context: a
clusters: [{name: one, cluster: {server: "https://one", certificate-authority: ca.crt}}]
users: [{name: u, user: {token: from-first}}]
contexts: [{name: a, context: {cluster: one, user: u, namespace: shop}}]
`,
);
const second = write(
	"second",
	`
current-context: b
clusters: [{name: one, cluster: {server: "https://other"}}, {name: two, cluster: {server: "https://two"}}]
users: [{name: u, user: {token: from-second}}, {name: f, user: {tokenFile: token, as-groups: [g1]}}]
contexts: [{name: b, context: {cluster: two, user: f}}, {name: broken, context: {cluster: nowhere, user: f}}]
`,
);
const empty = write("empty", "");
const garbled = write("garbled", "clusters: [");
const wrong = write("wrong", "clusters: 3");
const dangling = write("dangling", "clusters: *nobody");
const deep = write("deep", "[".repeat(20_000));
const noUrl = write(
	"no-url",
	`
current-context: a
clusters: [{name: one, cluster: {server: "one.example.com"}}]
users: [{name: u, user: {as-user-extra: {"\\uD800": [x]}}}]
contexts: [{name: a, context: {cluster: one, user: u}}]
`,
);

const none = readGlobalFlags({});
const both = { KUBECONFIG: [first, join(folder, "missing"), empty, second].join(delimiter) };

function connect(flags: Readonly<Record<string, unknown>> = {}, context?: string, env: NodeJS.ProcessEnv = both) {
	const globals = readGlobalFlags(flags);
	return resolveConnection(loadKubeconfig(globals, env), context, globals);
}

interface Parsed {
	readonly clusters: readonly [{ readonly cluster: Record<string, unknown> }];
	readonly users: readonly [{ readonly user: Record<string, unknown> }];
}

function contentOf(connection: { readonly kubeconfig: string }): {
	readonly cluster: Record<string, unknown>;
	readonly user: Record<string, unknown>;
} {
	const parsed: Parsed = JSON.parse(connection.kubeconfig);
	return { cluster: parsed.clusters[0].cluster, user: parsed.users[0].user };
}

describe("loadKubeconfig()", () => {
	test("of several files the first that has a name wins, missing and empty ones are skipped", () => {
		const kubeconfig = loadKubeconfig(none, both);
		expect(kubeconfig.currentContext).toBe("a");
		expect([...kubeconfig.contexts.keys()]).toEqual(["a", "b", "broken"]);
		expect(kubeconfig.clusters.get("one")).toMatchObject({
			server: "https://one",
			"certificate-authority": join(folder, "ca.crt"),
		});
		expect(kubeconfig.users.get("u")).toEqual({ token: "from-first" });
	});

	const failures: readonly { readonly path: string; readonly message: RegExp }[] = [
		{ path: join(folder, "missing"), message: /^error: stat .*missing: no such file or directory$/ },
		{ path: garbled, message: /^error: error loading config file ".*garbled": [^\n]+$/ },
		{ path: dangling, message: /^error: error loading config file ".*dangling": Unresolved alias [^\n]+$/ },
		{ path: deep, message: /^error: error loading config file ".*deep": it is nested too deeply$/ },
		{ path: wrong, message: /^error: error loading config file ".*wrong": clusters is not a list$/ },
	];
	for (const { path, message } of failures) {
		test(`--kubeconfig: ${message.source}`, () => {
			expect(() => loadKubeconfig(readGlobalFlags({ kubeconfig: path }), {})).toThrow(message);
		});
	}
});

describe("resolveConnection()", () => {
	test("the current context", () => {
		const connection = connect();
		expect(connection).toMatchObject({ context: "a", namespace: "shop", server: "https://one" });
		expect(contentOf(connection).user).toEqual({ token: "from-first" });
	});

	test("a tokenFile becomes what client-node reads", () => {
		const connection = connect({}, "b");
		expect(contentOf(connection).user).toMatchObject({
			"auth-provider": { name: "tokenFile", config: { tokenFile: join(folder, "token") } },
		});
		expect(connection.headers).toEqual({ "Impersonate-Group": ["g1"] });
	});

	test("flags win over the file", () => {
		const connection = connect({
			namespace: "other",
			server: "https://flag",
			token: "flag-token",
			as: "bob",
			"as-uid": "7",
			"as-group": ["x", "y"],
			"as-user-extra": ["a/b=1", "a/b=2"],
			"insecure-skip-tls-verify": true,
			"tls-server-name": "sni",
		});
		expect(connection).toMatchObject({ namespace: "other", server: "https://flag" });
		expect(connection.headers).toEqual({
			"Impersonate-Uid": "7",
			"Impersonate-Group": ["x", "y"],
			"Impersonate-Extra-a%2Fb": ["1", "2"],
		});
		expect(contentOf(connection)).toEqual({
			cluster: { server: "https://flag", "insecure-skip-tls-verify": true, "tls-server-name": "sni" },
			user: { token: "flag-token", as: "bob" },
		});
	});

	const failures: readonly { readonly name: string; readonly run: () => unknown; readonly message: string }[] = [
		{
			name: "an unknown context",
			run: () => connect({}, "nope"),
			message: "Error in configuration: context was not found for specified context: nope",
		},
		{
			name: "an unknown cluster",
			run: () => connect({ cluster: "nope" }),
			message: 'error: cluster "nope" does not exist',
		},
		{
			name: "an unknown user",
			run: () => connect({ user: "nope" }),
			message: 'error: auth info "nope" does not exist',
		},
		{
			name: "a context without its cluster",
			run: () => connect({}, "broken"),
			message: 'error: context "broken" names cluster "nowhere", which has no server in the kubeconfig',
		},
		{
			name: "no kubeconfig at all",
			run: () => connect({}, undefined, { HOME: folder }),
			message: "error: no context is chosen: set KUBECONFIG, or use --kubeconfig and --context",
		},
	];
	for (const { name, run, message } of failures) {
		test(`${name} is refused`, () => {
			expect(run).toThrow(message);
		});
	}

	test("--server needs no kubeconfig", () => {
		expect(connect({ server: "http://127.0.0.1:8001" }, undefined, { HOME: folder })).toMatchObject({
			context: "",
			namespace: "default",
		});
	});
});

test("resolveConnection() refuses a server that is no URL, and says how to write one", () => {
	const kubeconfig = loadKubeconfig({ ...none, kubeconfig: noUrl }, {});
	expect(() => resolveConnection(kubeconfig, undefined, none)).toThrow(
		'error: the server "one.example.com" is no URL: write it as https://HOST:PORT',
	);
	const flags = { ...none, server: "https://one.example.com" };
	expect(resolveConnection(kubeconfig, undefined, flags).headers).toEqual({ "Impersonate-Extra-%EF%BF%BD": ["x"] });
});
