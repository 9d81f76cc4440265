import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { type Connection, resolveConnection } from "../../../plugin/kubernetes/connection.ts";
import { findOwnCluster } from "../../../plugin/kubernetes/in-cluster.ts";
import { type Kubeconfig, loadKubeconfig } from "../../../plugin/kubernetes/kubeconfig.ts";
import { createScratchFolder } from "./scratch-folder.ts";

const { folder, write } = createScratchFolder("connection");

const pem = "-----BEGIN CERTIFICATE-----\n";
const data = Buffer.from(pem).toString("base64");
write("ca.crt", pem);
write("not.pem", "hello");
const token = write("token", "from-file");

type Entry = Readonly<Record<string, unknown>>;

interface Files {
	readonly cluster?: Entry;
	readonly user?: Entry;
	readonly context?: Entry;
	readonly currentContext?: string;
}

/** One context "a" with its cluster "one" and its user "u". */
function load({ cluster = {}, user = {}, context = {}, currentContext = "a" }: Files = {}): Kubeconfig {
	const content = {
		"current-context": currentContext,
		clusters: [{ name: "one", cluster: { server: "https://one", ...cluster } }],
		users: [{ name: "u", user }],
		contexts: [{ name: "a", context: { cluster: "one", user: "u", ...context } }],
	};
	return loadKubeconfig(readGlobalFlags({ kubeconfig: write("kubeconfig", JSON.stringify(content)) }), {});
}

function connect(files: Files = {}, flags: Entry = {}, context?: string): Connection {
	return resolveConnection(load(files), context, readGlobalFlags(flags), {});
}

/** What client-node is given, without what is empty. */
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
			authProvider: { name: "tokenFile", config: { tokenFile: token } },
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

	test("data goes before a file", () => {
		const { cluster, user } = contentOf(
			connect({
				cluster: { "certificate-authority": "ca.crt", "certificate-authority-data": data },
				user: { "client-certificate": "ca.crt", "client-certificate-data": data, "client-key": "ca.crt" },
			}),
		);
		expect(cluster).toEqual({ name: "cluster", server: "https://one", skipTLSVerify: false, caData: data });
		expect(user).toEqual({ name: "user", certData: data, keyFile: join(folder, "ca.crt") });
	});

	const refusals: readonly { readonly name: string; readonly run: () => unknown; readonly message: string }[] = [
		{
			name: "an unknown context",
			run: () => connect({}, {}, "nope"),
			message: 'error: context "nope" does not exist',
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
			message: 'error: the server "ftp://one" is no URL: write it as https://HOST:PORT',
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

	const unreadable = (what: string, whose: string) =>
		`unable to read ${what} /nonexistent for ${whose} due to open /nonexistent: no such file or directory`;
	const execs = "to use exec authentication plugin";
	const problems: readonly { readonly parts: Files; readonly flags?: Entry; readonly message: string }[] = [
		{
			parts: { cluster: { "certificate-authority": "/nonexistent" } },
			message: unreadable("certificate-authority", "one"),
		},
		{
			parts: {},
			flags: { "certificate-authority": "/nonexistent" },
			message: unreadable("certificate-authority", "one"),
		},
		{
			parts: { user: { "client-certificate": "/nonexistent", "client-key": "ca.crt" } },
			message: unreadable("client-cert", "u"),
		},
		{
			parts: { cluster: { "certificate-authority": "not.pem" } },
			message: `unable to parse ${join(folder, "not.pem")} as PEM block`,
		},
		{
			parts: { cluster: { "certificate-authority-data": "aGVsbG8=" } },
			message: "unable to parse certificate-authority-data of one as PEM block",
		},
		{
			parts: { cluster: { "certificate-authority-data": "!!" } },
			message: "certificate-authority-data of one is not base64",
		},
		{
			parts: { cluster: { "certificate-authority-data": data, "insecure-skip-tls-verify": true } },
			message: "specifying a root certificates file with the insecure flag is not allowed",
		},
		{
			parts: { cluster: { "proxy-url": "foo" } },
			message: `invalid 'proxy-url' "foo" for cluster "one": unsupported scheme "", must be http, https, or socks5`,
		},
		{
			parts: { user: { "client-certificate-data": data } },
			message: "client-key-data or client-key must be specified for u to use the clientCert authentication method.",
		},
		{
			parts: { user: { token: "x", username: "a" } },
			message: "more than one authentication method found for u; found [token basicAuth], only one is allowed",
		},
		{ parts: { user: { tokenFile: "/nonexistent" } }, message: "open /nonexistent: no such file or directory" },
		{
			parts: { user: { "as-groups": ["g"] } },
			message: "requesting uid, groups or user-extra for u without impersonating a user",
		},
		{
			parts: {},
			flags: { "as-group": ["g"] },
			message: "requesting uid, groups or user-extra for u without impersonating a user",
		},
		{
			parts: { user: { exec: { command: "x", apiVersion: "client.authentication.k8s.io/v1" } } },
			message: `interactiveMode must be specified for u ${execs}`,
		},
		{
			parts: {
				user: { exec: { command: "x", apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Now" } },
			},
			message: 'invalid interactiveMode for u: "Now"',
		},
		{
			parts: { user: { "auth-provider": { name: "gcp" } } },
			message:
				'The gcp auth plugin has been removed.\nPlease use the "gke-gcloud-auth-plugin" kubectl/client-go credential plugin instead.',
		},
		{ parts: { user: { "auth-provider": { name: "x" } } }, message: 'no Auth Provider found for name "x"' },
	];
	for (const { parts, flags, message } of problems) {
		test(`refused: ${message}`.replaceAll(folder, "…"), () => {
			expect(() => connect(parts, flags)).toThrow(expect.objectContaining({ message: `error: ${message}` }));
		});
	}

	test("several problems are all told", () => {
		const exec = { apiVersion: "client.authentication.k8s.io/v1" };
		expect(() => connect({ user: { exec } })).toThrow(
			`Error in configuration: \n* command must be specified for u ${execs}\n* interactiveMode must be specified for u ${execs}`,
		);
	});

	const servers: readonly { readonly server: string; readonly parts?: Files; readonly url: string }[] = [
		{ server: "127.0.0.1:6443", url: "http://127.0.0.1:6443" },
		{ server: "one", parts: { cluster: { "certificate-authority": "ca.crt" } }, url: "https://one" },
		{ server: "one:6443", parts: { user: { token: "secret" } }, url: "https://one:6443" },
		{ server: "http://127.0.0.1:8001/prefix", parts: { user: { token: "t" } }, url: "http://127.0.0.1:8001/prefix" },
	];
	for (const { server, parts, url } of servers) {
		test(`--server=${server} is ${url}`, () => {
			expect(connect(parts, { server }).server).toBe(url);
		});
	}

	const proxies: readonly {
		readonly named?: string;
		readonly inEnvironment: string;
		readonly httpProxy: string | undefined;
		readonly proxyUrl: string;
	}[] = [
		{ inEnvironment: "http://a:3128", httpProxy: "http://a:3128/", proxyUrl: "" },
		{ inEnvironment: "socks5://a:1080", httpProxy: undefined, proxyUrl: "socks5://a:1080" },
		{ named: "http://b", inEnvironment: "http://a", httpProxy: undefined, proxyUrl: "http://b" },
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
		expect(connection.cluster.proxyUrl).toBe("http://b");
	});

	test("--server needs no kubeconfig", () => {
		const flags = readGlobalFlags({ server: "http://127.0.0.1:8001" });
		const connection = resolveConnection(loadKubeconfig(flags, { HOME: folder }), undefined, flags, {});
		expect(connection).toMatchObject({ context: "", namespace: "default" });
	});

	test("a key of user-extra that is no Unicode makes a header all the same", () => {
		const { headers } = connect({ user: { as: "bob", "as-user-extra": { "\uD800": ["x"] } } });
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
});

describe("in a pod", () => {
	const mounted = join(folder, "serviceaccount");
	for (const [name, content] of Object.entries({ token: "t", "ca.crt": pem, namespace: "tools\n" })) {
		write(join("serviceaccount", name), content);
	}
	const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
	const inPod = (files: Files, flags: Entry, own = findOwnCluster(env, mounted)) =>
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
