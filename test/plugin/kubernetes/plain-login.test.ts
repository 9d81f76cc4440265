import type { RequestOptions } from "node:http";
import { KubeConfig } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { type Connection, resolveConnection } from "../../../plugin/kubernetes/connection.ts";
import { loadKubeconfig } from "../../../plugin/kubernetes/kubeconfig.ts";
import { findPlainLogin, type LoginOptions, withCredential } from "../../../plugin/kubernetes/plain-login.ts";
import { certificate, privateKey } from "../../support/sample-certificate.ts";
import { createScratchFolder } from "./scratch-folder.ts";

const { write } = createScratchFolder("plain-login");

const pem = certificate;
const data = Buffer.from(pem).toString("base64");
const keyData = Buffer.from(privateKey).toString("base64");
const file = write("some.pem", pem);
const keyFile = write("key.pem", privateKey);
const tokenFile = write("token", "from-file");

type Entry = Readonly<Record<string, unknown>>;

function connectionOf(cluster: Entry, user: Entry): Connection {
	const content = {
		"current-context": "a",
		clusters: [{ name: "one", cluster: { server: "https://one", ...cluster } }],
		users: [{ name: "u", user }],
		contexts: [{ name: "a", context: { cluster: "one", user: "u" } }],
	};
	const flags = readGlobalFlags({ kubeconfig: write("kubeconfig", JSON.stringify(content)) });
	return resolveConnection(loadKubeconfig(flags, {}), undefined, flags, {});
}

/** Leaves out missing values, and client-node's agent, which only a proxy needs. */
function shown(options: RequestOptions): object {
	const isShown = ([name, value]: readonly [string, unknown]): boolean =>
		name !== "agent" && (value ?? undefined) !== undefined;
	return Object.fromEntries(Object.entries(options).filter(isShown));
}

describe("findPlainLogin()", () => {
	const kubeconfigs: readonly { readonly name: string; readonly cluster?: Entry; readonly user?: Entry }[] = [
		{ name: "nothing at all" },
		{
			name: "certificates as data",
			cluster: { "certificate-authority-data": data },
			user: { "client-certificate-data": data, "client-key-data": keyData },
		},
		{
			name: "certificates in files",
			cluster: { "certificate-authority": file },
			user: { "client-certificate": file, "client-key": keyFile },
		},
		{ name: "a token, for somebody else", user: { token: "secret", as: "bob" } },
		{ name: "a token in a file", user: { tokenFile, token: "old" } },
		{ name: "a password", user: { username: "bob", password: "builder" } },
		{ name: "a name alone", user: { username: "bob" } },
		{ name: "no check of the server", cluster: { "insecure-skip-tls-verify": true } },
		{ name: "another name of the server", cluster: { "tls-server-name": "sni" } },
		{ name: "no TLS", cluster: { server: "http://one", "certificate-authority-data": data } },
	];
	for (const { name, cluster = {}, user = {} } of kubeconfigs) {
		for (const credential of [undefined, { token: "of a program", cert: pem, key: privateKey, expiresAt: undefined }]) {
			test(`${name}${credential ? ", and a program" : ""}: what client-node makes of it`, async () => {
				const connection = connectionOf(cluster, user);
				const config = new KubeConfig();
				config.loadFromClusterAndUser(connection.cluster, withCredential(connection.user, credential));
				const expected: LoginOptions = { headers: {} };
				await config.applyToHTTPSOptions(expected);
				const options: LoginOptions = { headers: {} };
				await findPlainLogin(connection)?.(options, credential);
				expect(shown(options)).toEqual(shown(expected));
			});
		}
	}

	const forClientNode: readonly { readonly name: string; readonly cluster?: Entry; readonly user?: Entry }[] = [
		{ name: "a SOCKS proxy", cluster: { "proxy-url": "socks5://proxy:1080" } },
		{
			name: "an auth provider",
			user: {
				"auth-provider": { name: "oidc", config: { "id-token": "x", "idp-issuer-url": "https://a", "client-id": "b" } },
			},
		},
	];
	for (const { name, cluster = {}, user = {} } of forClientNode) {
		test(`${name} is left to client-node`, () => {
			expect(findPlainLogin(connectionOf(cluster, user))).toBeUndefined();
		});
	}

	test("a token's file is read at each login, without the newline at its end", async () => {
		const path = write("rotated", "first\n");
		const login = findPlainLogin(connectionOf({}, { tokenFile: path }));
		const options: LoginOptions = { headers: {} };
		await login?.(options, undefined);
		expect(options.headers).toEqual({ Authorization: "Bearer first" });
		write("rotated", "second\n");
		await login?.(options, undefined);
		expect(options.headers).toEqual({ Authorization: "Bearer second" });
	});
});
