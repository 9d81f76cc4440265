import { generateKeyPairSync, webcrypto, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BasicConstraintsExtension, PemConverter, X509CertificateGenerator } from "@peculiar/x509";
import { describe, expect, test } from "vitest";
import { Certificates } from "../../../agent/tls/certificates.ts";
import {
	createAuthority as createForeignAuthority,
	issueAgentCertificate,
} from "../../../demo/machine/certificates.ts";
import type { ClusterObject } from "../../../plugin/install/cluster-object.ts";
import {
	type CertificateOptions,
	type CertificatePlan,
	planFleetCertificates,
} from "../../../plugin/install/fleet-certificates.ts";
import { certificateProblem } from "../../../plugin/install/judge-certificate.ts";
import type { KeyPair } from "../../../plugin/install/key-pair.ts";
import type { ClusterCertificates } from "../../../plugin/install/read-certificates.ts";
import { createAuthority, signAgentCertificate } from "../../../plugin/install/sign-certificates.ts";
import { UsageError } from "../../../plugin/terminal/errors.ts";

const now = new Date("2026-06-01T12:00:00Z");
const later = (days: number) => new Date(now.getTime() + days * 86_400_000);
const options = { mode: "create", agentNamespace: "xpdb-system", now } as const satisfies CertificateOptions;

const empty = (context: string): ClusterCertificates => ({
	context,
	clusterId: `id-${context}`,
	ca: undefined,
	agent: undefined,
	authority: undefined,
});

function dataOf(object: ClusterObject | undefined): Readonly<Record<string, string>> {
	return (object?.["data"] ?? {}) as Readonly<Record<string, string>>;
}

const decoded = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString();

function applied(
	clusters: readonly ClusterCertificates[],
	{ objects }: CertificatePlan,
): readonly ClusterCertificates[] {
	return clusters.map((cluster) => {
		const find = (name: string) => objects.get(cluster.context)?.find(({ metadata }) => metadata.name === name);
		const pairOf = (name: string): KeyPair | undefined => {
			const data = dataOf(find(name));
			return find(name) && { certificate: decoded(data["tls.crt"]), key: decoded(data["tls.key"]) };
		};
		const current = pairOf("xpdb-fleet-ca");
		return {
			...cluster,
			ca: dataOf(find("xpdb-ca"))["ca.crt"] ?? cluster.ca,
			agent: pairOf("xpdb-agent-tls") ?? cluster.agent,
			authority: current ? { current } : cluster.authority,
		};
	});
}

async function installed(contexts: readonly string[] = ["eu", "us"]): Promise<readonly ClusterCertificates[]> {
	const clusters = contexts.map(empty);
	return applied(clusters, await planFleetCertificates(clusters, options));
}

const kindsOf = ({ objects }: CertificatePlan) =>
	[...objects].map(([context, each]) => [context, each.map(({ kind, metadata }) => `${kind}/${metadata.name}`)]);

/** Reads these files as a starting agent does, and throws its error. */
function startAgent({ agent, ca, clusterId }: ClusterCertificates): void {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-certificates-"));
	const [certificateFile, privateKeyFile, caFile] = ["tls.crt", "tls.key", "ca.crt"].map((name) =>
		join(folder, name),
	) as [string, string, string];
	writeFileSync(certificateFile, agent?.certificate ?? "");
	writeFileSync(privateKeyFile, agent?.key ?? "");
	writeFileSync(caFile, ca ?? "");
	try {
		const certificates = new Certificates({
			files: { certificateFile, privateKeyFile, caFile },
			serverName: "xpdb-agent.xpdb-system.svc",
			report: () => undefined,
		});
		certificates.requireMember(clusterId);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

describe("planFleetCertificates() that creates", () => {
	test("makes one CA, and for each cluster a certificate that its agents take", async () => {
		const plan = await planFleetCertificates(["eu", "us"].map(empty), options);
		expect(kindsOf(plan)).toEqual([
			["eu", ["Secret/xpdb-fleet-ca", "ConfigMap/xpdb-ca", "Secret/xpdb-agent-tls"]],
			["us", ["ConfigMap/xpdb-ca", "Secret/xpdb-agent-tls"]],
		]);
		const [eu, us] = applied(["eu", "us"].map(empty), plan);
		for (const cluster of [eu, us]) startAgent(cluster ?? empty(""));
		expect(eu?.ca).toBe(us?.ca);
		const authority = new X509Certificate(eu?.ca ?? "");
		expect(authority.ca).toBe(true);
		expect(authority.validToDate).toEqual(later(3_650));
		const certificate = new X509Certificate(us?.agent?.certificate ?? "");
		expect(certificate.verify(authority.publicKey)).toBe(true);
		expect(certificate.subjectAltName).toBe("DNS:xpdb-agent.xpdb-system.svc, URI:xpdb://cluster/id-us");
		expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
		expect([certificate.ca, certificate.validToDate]).toEqual([false, later(365)]);
		expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
	});

	test("says what is new, and no key in it", async () => {
		const plan = await planFleetCertificates([empty("eu")], options);
		expect(plan.notes).toEqual([
			"eu: Secret xpdb-fleet-ca keeps the new CA of the fleet with its key",
			"eu: ConfigMap xpdb-ca trusts the fleet's CA",
			"eu: Secret xpdb-agent-tls gets a new certificate (there was none)",
		]);
		expect(plan.notes.join("")).not.toMatch(/BEGIN/);
	});

	test("refuses clusters that trust different CAs, names them, and says what to run", async () => {
		const [eu, us] = await installed();
		const [revoked] = await installed(["ap"]);
		if (!eu || !us || !revoked) throw new Error("no clusters");
		for (const mode of ["create", "existing", "cert-manager"] as const) {
			const refused = planFleetCertificates([revoked, { ...eu, authority: undefined }, us], { ...options, mode });
			await expect(refused).rejects.toThrow(/different CAs.*\nap: [0-9A-F:]+….*\neu, us: [0-9A-F:]+…/);
			await expect(refused).rejects.toMatchObject({
				hint: expect.stringContaining(
					"kubectl --context ap -n xpdb-system delete configmap/xpdb-ca secret/xpdb-agent-tls secret/xpdb-fleet-ca",
				),
			});
		}
	});

	test("signs with no key that a cluster still keeps of a CA that the members do not trust", async () => {
		const [eu, us] = await installed();
		const [revoked] = await installed(["ap"]);
		if (!eu || !us || !revoked) throw new Error("no clusters");
		const back = { ...empty("ap"), authority: revoked.authority };
		for (const mode of ["create", "cert-manager"] as const) {
			const refused = planFleetCertificates([{ ...eu, authority: undefined }, us, back], { ...options, mode });
			await expect(refused).rejects.toThrow(
				mode === "create" ? "ap: Secret xpdb-fleet-ca keeps a CA that the members do not trust" : "eu: cert-manager",
			);
		}
		// With the fleet's own CA, the cluster gets what it needs.
		const plan = await planFleetCertificates([{ ...eu, authority: undefined }, us, back], {
			...options,
			authority: eu.authority?.current,
		});
		expect(kindsOf(plan)).toContainEqual(["ap", ["ConfigMap/xpdb-ca", "Secret/xpdb-agent-tls"]]);
	});

	test("adds no CA of a file to those that members trust", async () => {
		const authority = await createAuthority(now);
		const refused = planFleetCertificates(await installed(), { ...options, authority });
		await expect(refused).rejects.toThrow("the members do not trust the CA of --ca-cert, they trust ");
	});

	test("changes nothing where all is there", async () => {
		const plan = await planFleetCertificates(await installed(), { ...options, now: later(300) });
		expect([kindsOf(plan), plan.notes]).toEqual([
			[
				["eu", []],
				["us", []],
			],
			[],
		]);
	});

	test("signs for a cluster that is added with the CA that another one keeps", async () => {
		const clusters = [empty("ap"), ...(await installed())];
		const plan = await planFleetCertificates(clusters, options);
		expect(kindsOf(plan)).toEqual([
			["ap", ["ConfigMap/xpdb-ca", "Secret/xpdb-agent-tls"]],
			["eu", []],
			["us", []],
		]);
		const [ap, eu] = applied(clusters, plan);
		expect(ap?.ca).toBe(eu?.ca);
		startAgent(ap ?? empty(""));
	});

	const replaced: {
		readonly name: string;
		readonly agent: (fleet: readonly ClusterCertificates[]) => Promise<KeyPair | undefined>;
		readonly why: RegExp;
	}[] = [
		{
			name: "of another cluster",
			agent: async ([eu]) => eu?.agent,
			why: /for cluster id "id-eu", not for cluster id "id-us"/,
		},
		{
			name: "with another one's key",
			agent: async ([eu, us]) => ({ certificate: us?.agent?.certificate ?? "", key: eu?.agent?.key ?? "" }),
			why: /its key is another one's/,
		},
		{
			name: "that cannot be read",
			agent: async () => ({ certificate: "none", key: "none" }),
			why: /it cannot be read/,
		},
		{
			name: "of another CA",
			agent: async () =>
				issueAgentCertificate(await createForeignAuthority("other"), { clusterId: "id-us", validForMs: 1e12 }),
			why: /not signed by a CA in xpdb-ca of eu/,
		},
	];
	for (const { name, agent, why } of replaced) {
		test(`replaces a certificate ${name}`, async () => {
			const fleet = await installed();
			const clusters = await Promise.all(
				fleet.map(async (cluster) => (cluster.context === "us" ? { ...cluster, agent: await agent(fleet) } : cluster)),
			);
			const plan = await planFleetCertificates(clusters, { ...options, now: new Date() });
			expect(kindsOf(plan)).toEqual([
				["eu", []],
				["us", ["Secret/xpdb-agent-tls"]],
			]);
			expect(plan.notes).toEqual([expect.stringMatching(why)]);
		});
	}

	test("replaces certificates that expired", async () => {
		const plan = await planFleetCertificates(await installed(), { ...options, now: later(366) });
		expect(plan.notes).toHaveLength(2);
		expect(plan.notes[0]).toMatch(/^eu: .*it expired at 2027-06-01T12:00:00\.000Z/);
	});

	test("signs with a CA out of files, of any usual kind, and keeps its key nowhere", async () => {
		const foreign = await createAuthority(now);
		const plan = await planFleetCertificates([empty("eu")], { ...options, authority: foreign });
		expect(kindsOf(plan)).toEqual([["eu", ["ConfigMap/xpdb-ca", "Secret/xpdb-agent-tls"]]]);
		expect(JSON.stringify([...plan.objects])).not.toContain(Buffer.from(foreign.key).toString("base64"));
	});

	test("signs nothing where the CA's key is nowhere, and says which certificates are missing", async () => {
		const fleet = (await installed()).map((cluster) => ({ ...cluster, authority: undefined }));
		expect(kindsOf(await planFleetCertificates(fleet, options))).toEqual([
			["eu", []],
			["us", []],
		]);
		const refused = planFleetCertificates([...fleet, empty("ap")], options);
		await expect(refused).rejects.toBeInstanceOf(UsageError);
		await expect(refused).rejects.toThrow("ap: there is no ConfigMap xpdb-system/xpdb-ca");
	});

	test("refuses a CA that is being changed, and one that is none", async () => {
		const [eu = empty(""), us = empty("")] = await installed();
		const other = await createAuthority(now);
		const withAuthority = (current: KeyPair, next?: KeyPair): ClusterCertificates => ({
			...us,
			authority: { current, ...(next && { next }) },
		});
		const current = eu.authority?.current ?? other;
		await expect(planFleetCertificates([withAuthority(current, other)], options)).rejects.toThrow("is being changed");
		const leaf = us.agent ?? other;
		await expect(planFleetCertificates([withAuthority(leaf)], options)).rejects.toThrow("not the certificate of a CA");
	});
});

describe("planFleetCertificates() with what exists", () => {
	test("applies nothing", async () => {
		const plan = await planFleetCertificates(await installed(), { ...options, mode: "existing" });
		expect([...plan.objects.values()].flat()).toEqual([]);
	});

	test("names each cluster whose agents could not talk to the others", async () => {
		const [eu = empty(""), us = empty("")] = await installed();
		const refused = planFleetCertificates([eu, { ...us, agent: undefined }, empty("ap")], {
			...options,
			mode: "existing",
		});
		await expect(refused).rejects.toThrow(
			"us: there is no Secret xpdb-system/xpdb-agent-tls\nap: there is no ConfigMap xpdb-system/xpdb-ca",
		);
	});
});

describe("planFleetCertificates() with cert-manager", () => {
	const managed = { ...options, mode: "cert-manager" } as const;

	test("asks an issuer of the person's for a certificate that names the cluster", async () => {
		const { certificate } = await createAuthority(now);
		const issuer = { kind: "ClusterIssuer", name: "vault" } as const;
		const plan = await planFleetCertificates([empty("eu")], { ...managed, issuer, authority: { certificate } });
		expect(plan.objects.get("eu")).toMatchObject([
			{ kind: "ConfigMap", data: { "ca.crt": certificate } },
			{
				apiVersion: "cert-manager.io/v1",
				kind: "Certificate",
				metadata: { name: "xpdb-agent", namespace: "xpdb-system" },
				spec: {
					secretName: "xpdb-agent-tls",
					dnsNames: ["xpdb-agent.xpdb-system.svc"],
					uris: ["xpdb://cluster/id-eu"],
					usages: ["digital signature", "server auth", "client auth"],
					issuerRef: { kind: "ClusterIssuer", name: "vault" },
				},
			},
		]);
	});

	test("makes an issuer of the CA that every cluster keeps, and lets all of them trust all", async () => {
		const [one, two] = await Promise.all([createAuthority(now), createAuthority(now)]);
		const clusters = [
			{ ...empty("eu"), authority: { current: one } },
			{ ...empty("us"), authority: { current: two } },
		];
		const plan = await planFleetCertificates(clusters, managed);
		expect(kindsOf(plan)).toEqual([
			["eu", ["ConfigMap/xpdb-ca", "Issuer/xpdb-fleet-ca", "Certificate/xpdb-agent"]],
			["us", ["ConfigMap/xpdb-ca", "Issuer/xpdb-fleet-ca", "Certificate/xpdb-agent"]],
		]);
		const bundles = [...plan.objects.values()].map(([map]) => dataOf(map)["ca.crt"]);
		expect(bundles).toEqual([`${one.certificate}${two.certificate}`, `${one.certificate}${two.certificate}`]);
	});

	test("refuses a cluster that has no CA to sign with, and one of whose CA nobody knows", async () => {
		await expect(planFleetCertificates([empty("eu")], managed)).rejects.toThrow("eu: cert-manager signs with the CA");
		const issuer = { kind: "Issuer", name: "vault" } as const;
		await expect(planFleetCertificates([empty("eu")], { ...managed, issuer })).rejects.toThrow(
			"so the issuer's CA is unknown",
		);
	});
});

describe("signAgentCertificate()", () => {
	const request = {
		commonName: "xpdb-agent eu",
		dnsName: "xpdb-agent.xpdb-system.svc",
		uri: "xpdb://cluster/id-eu",
		now,
	};

	test("lets no certificate last longer than its CA", async () => {
		const authority = await createAuthority(later(-3_500));
		const { certificate } = await signAgentCertificate(authority, request);
		expect(new X509Certificate(certificate).validToDate).toEqual(
			new X509Certificate(authority.certificate).validToDate,
		);
	});

	const kinds = [
		{
			name: "RSA",
			algorithm: {
				name: "RSASSA-PKCS1-v1_5",
				hash: "SHA-256",
				modulusLength: 2048,
				publicExponent: new Uint8Array([1, 0, 1]),
			},
		},
		{ name: "P-384", algorithm: { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" } },
	];
	for (const { name, algorithm } of kinds) {
		test(`signs with a CA's key of ${name}`, async () => {
			const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
			if (!("privateKey" in keys)) throw new Error("one key alone");
			const root = await X509CertificateGenerator.createSelfSigned({
				name: "CN=own",
				notBefore: now,
				notAfter: later(1),
				keys,
				signingAlgorithm: algorithm,
				extensions: [new BasicConstraintsExtension(true, undefined, true)],
			});
			const key = PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
			const authority = { certificate: `${root.toString("pem")}\n`, key };
			const pair = await signAgentCertificate(authority, request);
			const wanted = { ca: authority.certificate, serverName: request.dnsName, clusterId: "id-eu", now: later(0.5) };
			expect(certificateProblem(pair, wanted)).toBeUndefined();
		});
	}

	test("refuses a CA whose key is of another kind", async () => {
		const { certificate } = await createAuthority(now);
		const { privateKey } = generateKeyPairSync("ed25519");
		const key = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
		await expect(signAgentCertificate({ certificate, key }, request)).rejects.toThrow("this one is ed25519");
	});
});
