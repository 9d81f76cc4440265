// Plays cert-manager: its kinds, limited to the fields that an installation may set, and its controller, which creates the Secret of a
// Certificate.
import { signAgentCertificate } from "../../plugin/install/sign-certificates.ts";
import { follow, type Listed } from "../../demo/machine/api-client.ts";
import type { KeyPair } from "../../demo/machine/key-pairs.ts";
import type { RunningCluster } from "../controlplane/cluster.ts";

interface Certificate extends Listed {
	readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
	readonly spec: {
		readonly secretName: string;
		readonly commonName: string;
		readonly dnsNames: readonly string[];
		readonly uris: readonly string[];
	};
}

const group = "cert-manager.io";
const text = { type: "string" };
const texts = { type: "array", items: text };

function object(properties: Readonly<Record<string, object>>, required: readonly string[] = []): object {
	return { type: "object", properties, ...(required.length > 0 && { required }) };
}

const issuerSpec = object({ ca: object({ secretName: text }, ["secretName"]) });

const certificateSpec = object(
	{
		secretName: text,
		commonName: text,
		dnsNames: texts,
		uris: texts,
		usages: {
			type: "array",
			items: {
				...text,
				enum: ["signing", "digital signature", "key encipherment", "cert sign", "server auth", "client auth"],
			},
		},
		privateKey: object({
			algorithm: { ...text, enum: ["RSA", "ECDSA", "Ed25519"] },
			encoding: { ...text, enum: ["PKCS1", "PKCS8"] },
			rotationPolicy: { ...text, enum: ["Never", "Always"] },
			size: { type: "integer" },
		}),
		duration: text,
		renewBefore: text,
		issuerRef: object({ group: text, kind: text, name: text }, ["name"]),
	},
	["issuerRef", "secretName"],
);

function definition(kind: string, spec: object, scope = "Namespaced"): object {
	const singular = kind.toLowerCase();
	const status = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
	const schema = { openAPIV3Schema: object({ spec, status }, ["spec"]) };
	return {
		apiVersion: "apiextensions.k8s.io/v1",
		kind: "CustomResourceDefinition",
		metadata: { name: `${singular}s.${group}` },
		spec: {
			group,
			names: { kind, singular, plural: `${singular}s` },
			scope,
			versions: [{ name: "v1", served: true, storage: true, subresources: { status: {} }, schema }],
		},
	};
}

export const certManagerKinds: readonly object[] = [
	definition("Certificate", certificateSpec),
	definition("Issuer", issuerSpec),
	definition("ClusterIssuer", issuerSpec, "Cluster"),
];

/** Signs every Certificate in the namespace with this CA, whatever its issuer, until disposal. */
export function playCertManager(
	{ client }: Pick<RunningCluster, "client">,
	{ namespace, authority }: { readonly namespace: string; readonly authority: KeyPair },
): AsyncDisposable {
	const abort = new AbortController();
	const issued = new Map<string, Promise<void>>();

	async function issue({ metadata: { name }, spec }: Certificate): Promise<void> {
		const pair = await signAgentCertificate(authority, {
			commonName: spec.commonName,
			dnsName: spec.dnsNames[0] ?? "",
			uri: spec.uris[0] ?? "",
			now: new Date(),
		});
		await client.send("POST", `/api/v1/namespaces/${namespace}/secrets`, {
			apiVersion: "v1",
			kind: "Secret",
			metadata: {
				name: spec.secretName,
				annotations: { [`${group}/certificate-name`]: name },
				labels: { [`controller.${group}/fao`]: "true" },
			},
			type: "kubernetes.io/tls",
			stringData: { "ca.crt": authority.certificate, "tls.crt": pair.certificate, "tls.key": pair.key },
		});
	}

	const see = (certificate: Certificate): void => {
		const { uid } = certificate.metadata;
		if (!issued.has(uid)) issued.set(uid, issue(certificate));
	};
	const following = follow<Certificate>({
		client,
		path: `/apis/${group}/v1/namespaces/${namespace}/certificates`,
		signal: abort.signal,
		onList: (certificates) => certificates.forEach(see),
		onEvent: ({ type, object: certificate }) => {
			if (type !== "DELETED") see(certificate);
		},
	});
	return {
		async [Symbol.asyncDispose]() {
			abort.abort();
			await Promise.all([following, ...issued.values()]);
		},
	};
}
