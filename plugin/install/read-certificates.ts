// Reads the certificates of a fleet from its clusters. No other record shows how far a change of certificates has come.
import { isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import { allInOrder } from "./all-in-order.ts";
import {
	agentSecret,
	authoritySecret,
	caConfigMap,
	caKey,
	type KeptAuthority,
	nextCertificateKey,
	nextPrivateKeyKey,
} from "./certificate-objects.ts";
import type { KeyPair } from "./key-pair.ts";

export interface ClusterCertificates {
	/** The name of the cluster's context. */
	readonly context: string;
	readonly clusterId: string;
	/** The CAs that are trusted there, as PEM; undefined if no ConfigMap names them. */
	readonly ca: string | undefined;
	readonly agent: KeyPair | undefined;
	/** The CA with its key, which at most one cluster of a fleet keeps, unless cert-manager signs with it. */
	readonly authority: KeptAuthority | undefined;
}

/** Rejects with ApiError or ConnectionError, or with UsageError if Secret xpdb-fleet-ca contains no CA with its key. */
export async function readClusterCertificates(context: KubeContext, clusterId: string): Promise<ClusterCertificates> {
	const { namespace } = context.agents;
	const [map, agent, authority] = await allInOrder([
		find<Data>(context, `/api/v1/namespaces/${namespace}/configmaps/${caConfigMap}`),
		find<Data>(context, `/api/v1/namespaces/${namespace}/secrets/${agentSecret}`),
		find<Data>(context, `/api/v1/namespaces/${namespace}/secrets/${authoritySecret}`),
	]);
	const ca = map?.data?.[caKey]?.trim() ?? "";
	return {
		context: context.name,
		clusterId,
		ca: ca === "" ? undefined : `${ca}\n`,
		agent: agent && readPair(agent, ["tls.crt", "tls.key"]),
		authority: authority && readKept(authority, context),
	};
}

interface Data {
	readonly data?: Readonly<Record<string, string>>;
}

function readKept(secret: Data, { name, agents }: KubeContext): KeptAuthority {
	const current = readPair(secret, ["tls.crt", "tls.key"]);
	if (!current) {
		throw new UsageError(
			`${name}: Secret ${agents.namespace}/${authoritySecret} has no CA with its key in it (tls.crt, tls.key)`,
			"Put the fleet's CA there, or delete the Secret where there is none yet",
		);
	}
	const next = readPair(secret, [nextCertificateKey, nextPrivateKeyKey]);
	return { current, ...(next && { next }) };
}

function readPair({ data = {} }: Data, [certificateKey, keyKey]: readonly [string, string]): KeyPair | undefined {
	const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
	const [certificate, key] = [text(certificateKey), text(keyKey)];
	return certificate === "" || key === "" ? undefined : { certificate, key };
}

async function find<T>({ client }: KubeContext, path: string): Promise<T | undefined> {
	try {
		return await client.get<T>(path);
	} catch (error) {
		if (isNotFound(error)) return undefined;
		throw error;
	}
}
