import { describe, expect, test } from "vitest";
import { reservationAnnotation } from "../../../plugin/evictions/send-eviction.ts";
import { HiddenSecrets } from "../../../plugin/terminal/hidden-secrets.ts";

describe("HiddenSecrets", () => {
	const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";
	const rows: readonly { readonly name: string; readonly value: unknown; readonly secrets: readonly string[] }[] = [
		{
			name: "a TokenRequest's answer",
			value: { status: { token: "token-12345678901" } },
			secrets: ["token-12345678901"],
		},
		{ name: "a token by its form", value: { message: `got ${jwt}` }, secrets: [jwt] },
		{
			name: "a private key by its form",
			value: { note: "-----BEGIN EC PRIVATE KEY-----\nabcdef" },
			secrets: ["abcdef"],
		},
		{
			name: "an eviction",
			value: { kind: "Eviction", metadata: { annotations: { [reservationAnnotation]: "50ec2aa1-c5b8-421d" } } },
			secrets: ["50ec2aa1-c5b8-421d"],
		},
		{
			name: "a commit",
			value: {
				acquisition: { nonce: "9e8b0199-5a8d-4360" },
				grants: [{ id: "77d27317-a475-4119", pod: { name: "db-0" } }],
			},
			secrets: ["9e8b0199-5a8d-4360", "77d27317-a475-4119"],
		},
		{
			name: "a cancellation",
			value: { ids: ["77d27317-a475-4119", "12ab7317-a475-4119"], sent: true },
			secrets: ["77d27317-a475-4119", "12ab7317-a475-4119"],
		},
		{
			name: "a Secret",
			value: { kind: "Secret", data: { a: "c2VjcmV0MTIzNDU2Nzg5" }, stringData: { b: "secret-b-1234567" } },
			secrets: ["c2VjcmV0MTIzNDU2Nzg5", "secret-b-1234567"],
		},
		{
			name: "a list of Secrets",
			value: { kind: "SecretList", items: [{ data: { a: "c2VjcmV0MTIzNDU2Nzg5" } }] },
			secrets: ["c2VjcmV0MTIzNDU2Nzg5"],
		},
		{
			name: "a login",
			value: { password: "hunter22-hunter22", clientKeyData: "a2V5LWRhdGEtMTIzNDU2" },
			secrets: ["hunter22-hunter22", "a2V5LWRhdGEtMTIzNDU2"],
		},
	];
	for (const { name, value, secrets } of rows) {
		test(`${name} is shown without its secrets, which stay hidden from then on`, () => {
			const hidden = new HiddenSecrets();
			const shown = JSON.stringify(hidden.masked(value));
			expect(shown).toContain("<masked>");
			for (const secret of secrets) expect(shown).not.toContain(secret);
			const whole = secrets.every((secret) => hidden.hide(`it says ${secret}`) === "it says <masked>");
			expect(whole || name.endsWith("by its form")).toBe(true);
		});
	}

	test("a name that stands where ids stand is masked there, and nowhere else", () => {
		const hidden = new HiddenSecrets();
		expect(hidden.masked({ labels: { id: "default" } })).toEqual({ labels: { id: "<masked>" } });
		expect(hidden.hide("namespace default")).toBe("namespace default");
	});

	test("everything else is shown as it is", () => {
		const value = {
			kind: "ConfigMap",
			metadata: { name: "a", uid: "u-1", resourceVersion: "7" },
			data: { "ca.crt": "-----BEGIN CERTIFICATE-----" },
			members: [{ id: "cluster-id", name: "eu", address: "eu:1" }],
			spec: { automountServiceAccountToken: false, replicas: 3, nothing: null },
			sources: [{ serviceAccountToken: { path: "a-token-of-its-own-1", expirationSeconds: 3607 } }],
		};
		expect(new HiddenSecrets().masked(value)).toEqual(value);
	});
});
