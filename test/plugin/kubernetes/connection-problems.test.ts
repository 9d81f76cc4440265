import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { certificate as pem } from "../../support/sample-certificate.ts";
import {
	certificateData as data,
	createSampleKubeconfig,
	type Entry,
	type KubeconfigParts,
} from "./sample-kubeconfig.ts";

const { folder, write, connect } = createSampleKubeconfig("connection-problems");

write("not.pem", "hello");
write("indented.pem", pem.replaceAll(/^/gm, "  "));
write("joined.pem", pem.trimEnd() + pem);
write("cut.pem", pem.slice(0, 100));
write("odd.pem", pem.replace(/\nMII/, "\nAAA"));

describe("connectionProblems()", () => {
	const unreadable = (what: string, whose: string) =>
		`unable to read ${what} /nonexistent for ${whose} due to open /nonexistent: no such file or directory`;
	const execs = "to use exec authentication plugin";
	const problems: readonly { readonly parts: KubeconfigParts; readonly flags?: Entry; readonly message: string }[] = [
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
			parts: { user: { "client-certificate": "/nonexistent", "client-key": "client.key" } },
			message: unreadable("client-cert", "u"),
		},
		{
			parts: { cluster: { "certificate-authority": "not.pem" } },
			message: `unable to parse ${join(folder, "not.pem")} as PEM block: it has no "-----BEGIN CERTIFICATE-----"`,
		},
		{
			parts: { cluster: { "certificate-authority": "indented.pem" } },
			message: `unable to parse ${join(folder, "indented.pem")} as PEM block: in line 1, "-----BEGIN" is not at the start of the line`,
		},
		{
			parts: { cluster: { "certificate-authority": "joined.pem" } },
			message: `unable to parse ${join(folder, "joined.pem")} as PEM block: in line ${pem.trimEnd().split("\n").length}, "-----BEGIN" is not at the start of the line`,
		},
		{
			parts: { cluster: { "certificate-authority": "cut.pem" } },
			message: `unable to parse ${join(folder, "cut.pem")} as PEM block: no "-----BEGIN CERTIFICATE-----" has its end`,
		},
		{
			parts: { cluster: { "certificate-authority": "odd.pem" } },
			message: `unable to parse ${join(folder, "odd.pem")} as PEM block: its certificate cannot be read`,
		},
		{
			parts: { user: { "client-certificate": "ca.crt", "client-key": "ca.crt" } },
			message: `unable to parse ${join(folder, "ca.crt")} as PEM block: no "-----BEGIN PRIVATE KEY-----" has its end`,
		},
		{
			parts: { cluster: { "certificate-authority": "ca.crt", "certificate-authority-data": data } },
			message: "certificate-authority-data and certificate-authority are both specified for one: remove one of them",
		},
		{
			parts: { cluster: { "certificate-authority-data": "aGVsbG8=" } },
			message:
				'unable to parse certificate-authority-data of one as PEM block: it has no "-----BEGIN CERTIFICATE-----"',
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
		{ parts: { user: { "auth-provider": { name: "oidc" } } }, message: "Must provide idp-issuer-url" },
		{
			parts: {
				user: {
					exec: {
						command: "x",
						apiVersion: "client.authentication.k8s.io/v1",
						interactiveMode: "Never",
						env: [{ value: "b" }],
					},
				},
			},
			message: `env variable name must be specified for u ${execs}`,
		},
		{
			parts: {
				user: { exec: { command: "x", apiVersion: "client.authentication.k8s.io/v2", interactiveMode: "Never" } },
			},
			message: 'exec plugin: invalid apiVersion "client.authentication.k8s.io/v2"',
		},
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
});
