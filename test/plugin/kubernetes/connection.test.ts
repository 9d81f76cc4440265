import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { type Connection, resolveConnection } from "../../../plugin/kubernetes/connection.ts";
import { findOwnCluster } from "../../../plugin/kubernetes/in-cluster.ts";
import { loadKubeconfig } from "../../../plugin/kubernetes/kubeconfig.ts";
import { certificate } from "../../support/sample-certificate.ts";
import {
	certificateData as data,
	createSampleKubeconfig,
	type Entry,
	type KubeconfigParts,
} from "./sample-kubeconfig.ts";

const { folder, write, load, connect } = createSampleKubeconfig("connection");

/** Returns what client-node gets, without empty values. */
function contentOf({ cluster, user }: Connection): { readonly cluster: Entry; readonly user: Entry } {
	const filled = (entry: object): Entry =>
		Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== ""));
	return { cluster: filled(cluster), user: filled(user) };
}

describe("resolveConnection()", () => {
	test("the current context", () => {
		const connection = connect({ user: { token: "secret" }, context: { namespace: "shop" } });
		expect(connection).toMatchObject({ context: "a", namespace: "shop", server: "https://one" });
		expect(contentOf(connection).user).toEqual({ name: "user", token: "secret" });
	});

	test("a tokenFile becomes what client-node reads, and goes before a token", () => {
		const connection = connect({ user: { tokenFile: "token", token: "old", as: "bob", "as-groups": ["g1"] } });
		expect(contentOf(connection).user).toEqual({
			name: "user",
			impersonateUser: "bob",
			authProvider: { name: "tokenFile", config: { tokenFile: join(folder, "token") } },
		});
		expect(connection.headers).toEqual({ "Impersonate-Group": ["g1"] });
	});

	test("flags win over the file", () => {
		const flags = {
			namespace: "other",
			server: "https://flag",
			token: "flag-token",
			as: "bob",
			"as-uid": "7",
			"as-group": ["x", "y"],
			"as-user-extra": ["a/b=1", "a/b=2"],
			"insecure-skip-tls-verify": true,
			"tls-server-name": "sni",
		};
		const connection = connect({ cluster: { "certificate-authority": "ca.crt" }, user: { token: "old" } }, flags);
		expect(connection).toMatchObject({ namespace: "other", server: "https://flag" });
		expect(connection.headers).toEqual({
			"Impersonate-Uid": "7",
			"Impersonate-Group": ["x", "y"],
			"Impersonate-Extra-a%2Fb": ["1", "2"],
		});
		expect(contentOf(connection)).toEqual({
			cluster: { name: "cluster", server: "https://flag", skipTLSVerify: true, tlsServerName: "sni" },
			user: { name: "user", token: "flag-token", impersonateUser: "bob" },
		});
	});

	test("certificates are files or data", () => {
		const { cluster, user } = contentOf(
			connect({
				cluster: { "certificate-authority-data": data },
				user: { "client-certificate-data": data, "client-key": "client.key" },
			}),
		);
		expect(cluster).toEqual({ name: "cluster", server: "https://one", skipTLSVerify: false, caData: data });
		expect(user).toEqual({ name: "user", certData: data, keyFile: join(folder, "client.key") });
	});

	test("a key without its certificate is not read", () => {
		expect(contentOf(connect({ user: { "client-key": "/nonexistent" } })).user).toEqual({ name: "user" });
	});

	test("a token holds where its file cannot be read", () => {
		const { user } = contentOf(connect({ user: { token: "t", tokenFile: "/nonexistent" } }));
		expect(user).toEqual({ name: "user", token: "t" });
	});

	const refusals: readonly { readonly name: string; readonly run: () => unknown; readonly message: string }[] = [
		{
			name: "an unknown context",
			run: () => connect({}, {}, "nope"),
			message: 'error: context "nope" does not exist',
		},
		{
			name: "an unknown context, which may have been in a file that is not there",
			run: () => {
				const paths = [write("some", "contexts: []"), join(folder, "gone")];
				const kubeconfig = loadKubeconfig(readGlobalFlags({}), { KUBECONFIG: paths.join(delimiter) });
				return resolveConnection(kubeconfig, "nope", readGlobalFlags({}), {});
			},
			message: `error: context "nope" does not exist (not found in KUBECONFIG: ${join(folder, "gone")})`,
		},
		{
			name: "a current context that is not there",
			run: () => connect({ currentContext: "gone" }),
			message: "Error in configuration: context was not found for specified context: gone",
		},
		{
			name: "an unknown cluster",
			run: () => connect({}, { cluster: "nope" }),
			message: 'error: cluster "nope" does not exist',
		},
		{
			name: "an unknown user",
			run: () => connect({}, { user: "nope" }),
			message: 'error: auth info "nope" does not exist',
		},
		{
			name: "a context without its cluster",
			run: () => connect({ context: { cluster: "nowhere" } }),
			message: 'error: context "a" names cluster "nowhere", which has no server in the kubeconfig',
		},
		{
			name: "no context at all",
			run: () => connect({ currentContext: "" }),
			message: "error: no context is chosen: set KUBECONFIG, or use --kubeconfig, and --contexts or --context",
		},
		{
			name: "a server that is no URL",
			run: () => connect({}, { server: "ftp://one" }),
			message: 'error: the server "ftp://one" is not a URL: write it as https://HOST:PORT',
		},
		{
			name: "a host with a path",
			run: () => connect({}, { server: "one/path" }),
			message: 'error: host must be a URL or a host:port pair: "one/path"',
		},
	];
	for (const { name, run, message } of refusals) {
		test(`${name} is refused`, () => {
			expect(run).toThrow(expect.objectContaining({ message }));
		});
	}

	const servers: readonly { readonly server: string; readonly parts?: KubeconfigParts; readonly url: string }[] = [
		{ server: "127.0.0.1:6443", url: "http://127.0.0.1:6443" },
		{ server: "one", parts: { cluster: { "certificate-authority": "ca.crt" } }, url: "https://one" },
		{ server: "one:6443", parts: { user: { token: "secret" } }, url: "https://one:6443" },
		{ server: "http://127.0.0.1:8001/prefix", parts: { user: { token: "t" } }, url: "http://127.0.0.1:8001/prefix" },
	];
	for (const [server, url] of [
		["https://one//", "https://one/"],
		["https://one/a//b/", "https://one/a/b/"],
		["https://one/?a=b#c", "https://one/"],
	] as const) {
		test(`${server} is ${url}, as kubectl has it`, () => {
			expect(connect({}, { server }).server).toBe(url);
		});
	}
	for (const { server, parts, url } of servers) {
		test(`--server=${server} is ${url}`, () => {
			expect(connect(parts, { server }).server).toBe(url);
		});
	}

	test("a plain server is told for whom it is asked, and no login", () => {
		const exec = {
			apiVersion: "client.authentication.k8s.io/v1",
			command: "login",
			interactiveMode: "Never",
		};
		const parts = { user: { token: "t", as: "bob", exec } };
		const plain = connect(parts, { server: "http://127.0.0.1:8001" });
		expect(plain.user).toMatchObject({ token: "", certData: "", username: "", impersonateUser: "bob" });
		expect(plain.exec).toBeUndefined();
	});

	const proxies: readonly {
		readonly named?: string;
		readonly inEnvironment: string;
		readonly httpProxy: string | undefined;
		readonly proxyUrl: string;
	}[] = [
		{ inEnvironment: "http://a:3128", httpProxy: "http://a:3128/", proxyUrl: "" },
		{ inEnvironment: "socks5://a:1080", httpProxy: undefined, proxyUrl: "socks5h://a:1080" },
		{ named: "socks5://b:1080", inEnvironment: "http://a", httpProxy: undefined, proxyUrl: "socks5h://b:1080" },
		{ named: "http://b", inEnvironment: "http://a", httpProxy: "http://b/", proxyUrl: "" },
		{ named: "https://b", inEnvironment: "", httpProxy: undefined, proxyUrl: "https://b" },
		{ inEnvironment: "https://a", httpProxy: "https://a/", proxyUrl: "" },
	];
	for (const { named = "", inEnvironment, httpProxy, proxyUrl } of proxies) {
		test(`the way to a server with proxy-url "${named}" and ${inEnvironment} in the environment`, () => {
			const files = { cluster: { "proxy-url": named } };
			const env = { HTTPS_PROXY: inEnvironment };
			const connection = resolveConnection(load(files), undefined, readGlobalFlags({}), env);
			expect(connection).toMatchObject({ httpProxy, cluster: { proxyUrl } });
		});
	}

	test("a proxy-url holds for this machine too, and whatever NO_PROXY says", () => {
		const files = { cluster: { server: "https://127.0.0.1:6443", "proxy-url": "http://b" } };
		const env = { HTTPS_PROXY: "http://a", NO_PROXY: "*" };
		const connection = resolveConnection(load(files), undefined, readGlobalFlags({}), env);
		expect(connection.httpProxy).toBe("http://b/");
	});

	test("--server needs no kubeconfig", () => {
		const flags = readGlobalFlags({ server: "http://127.0.0.1:8001" });
		const connection = resolveConnection(loadKubeconfig(flags, { HOME: folder }), undefined, flags, {});
		expect(connection).toMatchObject({ context: "", namespace: "default" });
	});

	test("a key of user-extra that is no Unicode makes a header all the same", () => {
		const { headers } = connect({ user: { as: "bob" } }, { "as-user-extra": ["\uD800=x"] });
		expect(headers).toEqual({ "Impersonate-Extra-%EF%BF%BD": ["x"] });
	});

	test("a plugin is told its cluster where it asks for it, with the certificate of a file", () => {
		const exec = {
			command: "./login",
			env: [{ name: "A", value: "b" }],
			apiVersion: "client.authentication.k8s.io/v1beta1",
			provideClusterInfo: true,
		};
		const cluster = {
			"certificate-authority": "ca.crt",
			extensions: [{ name: "client.authentication.k8s.io/exec", extension: { audience: "x" } }],
		};
		const connection = connect({ cluster, user: { exec } });
		expect(connection.exec).toMatchObject({
			command: join(folder, "login"),
			args: [],
			env: { A: "b" },
			interactiveMode: "IfAvailable",
			cluster: { server: "https://one", "certificate-authority-data": data, config: { audience: "x" } },
		});
		expect(contentOf(connection).user).toEqual({ name: "user" });
	});

	test("no program is run where there is another way in", () => {
		const exec = { command: "x", apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Never" };
		const others: readonly (readonly [Entry, Entry])[] = [
			[{ token: "t" }, {}],
			[{ tokenFile: "token" }, {}],
			[{ username: "a" }, {}],
			[{ "client-certificate": "ca.crt", "client-key": "client.key" }, {}],
			[{}, { token: "t" }],
			[{}, { "client-certificate": join(folder, "ca.crt"), "client-key": join(folder, "client.key") }],
		];
		for (const [user, flags] of others) expect(connect({ user: { exec, ...user } }, flags).exec).toBeUndefined();
		expect(connect({ user: { exec, as: "bob" } }).exec).toBeDefined();
	});
});

describe("in a pod", () => {
	const mounted = join(folder, "serviceaccount");
	for (const [name, content] of Object.entries({ token: "t", "ca.crt": certificate, namespace: "tools\n" })) {
		write(join("serviceaccount", name), content);
	}
	const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
	const inPod = (files: KubeconfigParts, flags: Entry, own = findOwnCluster(env, mounted)) =>
		resolveConnection({ ...load(files), ownCluster: own }, undefined, readGlobalFlags(flags), {});

	test("its own cluster, as its ServiceAccount, where no context is chosen", () => {
		const connection = inPod({ currentContext: "" }, {});
		expect(connection).toMatchObject({ context: "", namespace: "tools", server: "https://[fd00::1]:443" });
		expect(contentOf(connection)).toMatchObject({
			cluster: { caFile: join(mounted, "ca.crt") },
			user: { authProvider: { config: { tokenFile: join(mounted, "token") } } },
		});
	});

	test("flags hold there too", () => {
		const connection = inPod({ currentContext: "" }, { namespace: "other", as: "bob" });
		expect(connection.namespace).toBe("other");
		expect(contentOf(connection).user).toMatchObject({ impersonateUser: "bob" });
	});

	test("never where a context, or a server, is named", () => {
		expect(inPod({}, {}).server).toBe("https://one");
		expect(inPod({ currentContext: "" }, { server: "https://flag" }).server).toBe("https://flag");
		expect(() => inPod({ context: { cluster: "nowhere" } }, {})).toThrow("has no server");
	});

	const outside: readonly { readonly name: string; readonly env: NodeJS.ProcessEnv; readonly path: string }[] = [
		{ name: "no address", env: {}, path: mounted },
		{ name: "no port", env: { KUBERNETES_SERVICE_HOST: "10.0.0.1" }, path: mounted },
		{ name: "no token", env, path: join(folder, "nothing") },
	];
	for (const { name, env: outer, path } of outside) {
		test(`${name}: it is no pod`, () => {
			expect(findOwnCluster(outer, path)).toBeUndefined();
		});
	}
});
