// Issues and verifies tokens of service accounts, which a TokenRequest may bind to a pod.
import { randomUUID } from "node:crypto";
import { generateKeyPair, jwtVerify, SignJWT } from "jose";
import { isRecord } from "../../disruption/record.ts";
import { type ApiObject, textAt, timestamp, valueAt } from "./api-object.ts";
import { type ApiAnswer, type ApiRequest, sentObject, storeKey, type User } from "./api-request.ts";
import type { ObjectStore } from "./object-store.ts";
import { read } from "./reads.ts";
import { builtInType } from "./resource-types.ts";
import { badRequest, conflict, invalid, notFound } from "./status-error.ts";

/** Also the default audience of tokens. */
export const issuer = "https://kubernetes.default.svc.cluster.local";
// Kubernetes usually uses RSA, but making an RSA key takes longer than making the rest of the cluster.
const algorithm = "ES256";
const shortestSeconds = 600;
const defaultSeconds = 3_600;

interface PrivateClaims {
	readonly namespace: string;
	readonly serviceaccount: { readonly name: string; readonly uid: string };
	readonly pod?: { readonly name: string; readonly uid: string };
	readonly node?: { readonly name: string; readonly uid: string };
}

export interface VerifiedToken {
	readonly user: User;
	readonly audiences: readonly string[];
}

export interface TokenIssuer {
	request(request: ApiRequest): Promise<ApiAnswer>;
	/** Returns undefined for an invalid or expired token, or if an object that it is bound to is gone. */
	verify(token: string): Promise<VerifiedToken | undefined>;
}

export async function createTokenIssuer(store: ObjectStore): Promise<TokenIssuer> {
	const { publicKey, privateKey } = await generateKeyPair(algorithm);
	// Caches verified signatures. The objects that tokens are bound to are looked up each time.
	const known = new Map<string, Claims>();

	async function claimsOf(token: string): Promise<Claims | undefined> {
		const found = known.get(token);
		if (found) return found.expiresAt > Date.now() ? found : undefined;
		try {
			const { payload } = await jwtVerify(token, publicKey, { issuer, algorithms: [algorithm] });
			const bound = payload["kubernetes.io"];
			if (!isRecord(bound) || !Array.isArray(payload.aud)) return undefined;
			const claims: Claims = {
				id: payload.jti ?? "",
				audiences: payload.aud,
				expiresAt: (payload.exp ?? 0) * 1_000,
				bound: bound as unknown as PrivateClaims,
			};
			known.set(token, claims);
			return claims;
		} catch {
			return undefined;
		}
	}

	return {
		async request(request) {
			const { name, namespace } = request;
			const sent = sentObject(request);
			const account = read(store, request);
			const seconds = lifetimeOf(sent, request);
			const asked = valueAt(sent, "spec.audiences");
			const audiences = Array.isArray(asked) && asked.length > 0 ? asked.map(String) : [issuer];
			const bound = boundClaims(store, sent, account);
			const issuedAt = Math.floor(Date.now() / 1_000);
			const claims = { namespace, serviceaccount: { name, uid: account.metadata.uid }, ...bound };
			const token = await new SignJWT({ "kubernetes.io": claims })
				.setProtectedHeader({ alg: algorithm })
				.setIssuer(issuer)
				.setSubject(`system:serviceaccount:${namespace}:${name}`)
				.setAudience(audiences)
				.setIssuedAt(issuedAt)
				.setNotBefore(issuedAt)
				.setExpirationTime(issuedAt + seconds)
				.setJti(randomUUID())
				.sign(privateKey);
			const boundObjectRef = valueAt(sent, "spec.boundObjectRef") ?? null;
			return {
				code: 201,
				body: {
					kind: "TokenRequest",
					apiVersion: "authentication.k8s.io/v1",
					metadata: { name, namespace, creationTimestamp: timestamp() },
					spec: { audiences, expirationSeconds: seconds, boundObjectRef },
					status: { token, expirationTimestamp: timestamp((issuedAt + seconds) * 1_000) },
				},
			};
		},
		async verify(token) {
			const claims = await claimsOf(token);
			if (!claims || !isStillBound(store, claims.bound)) return undefined;
			return { user: userOf(claims), audiences: claims.audiences };
		},
	};
}

interface Claims {
	readonly id: string;
	readonly audiences: readonly string[];
	readonly expiresAt: number;
	readonly bound: PrivateClaims;
}

function lifetimeOf(sent: unknown, { name }: ApiRequest): number {
	const asked = valueAt(sent, "spec.expirationSeconds");
	if (asked === undefined || asked === null) return defaultSeconds;
	if (typeof asked === "number" && asked >= shortestSeconds) return asked;
	const message = `Invalid value: ${JSON.stringify(asked)}: may not specify a duration less than 10 minutes`;
	const type = { group: "authentication.k8s.io", kind: "TokenRequest" };
	throw invalid(type, name, { field: "spec.expirationSeconds", reason: "FieldValueInvalid", message });
}

function boundClaims(store: ObjectStore, sent: unknown, account: ApiObject): Pick<PrivateClaims, "pod" | "node"> {
	const reference = valueAt(sent, "spec.boundObjectRef");
	if (!isRecord(reference)) return {};
	const pods = builtInType("pods");
	if (reference["kind"] !== "Pod")
		throw badRequest(`cannot bind token for serviceaccount to object of type ${String(reference["kind"])}`);
	const name = textAt(reference, "name");
	const uid = textAt(reference, "uid");
	const pod = store.find(pods.key, storeKey({ namespace: account.metadata.namespace ?? "", name }));
	if (!pod) throw notFound(pods, name);
	if (uid !== "" && uid !== pod.metadata.uid) {
		throw conflict(
			pods,
			name,
			`the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
		);
	}
	if (textAt(pod, "spec.serviceAccountName") !== account.metadata.name) {
		throw badRequest(
			`cannot bind token for serviceaccount ${JSON.stringify(account.metadata.name)} to pod running with different serviceaccount name.`,
		);
	}
	const node = store.find("nodes", storeKey({ namespace: "", name: textAt(pod, "spec.nodeName") }));
	return {
		pod: { name, uid: pod.metadata.uid },
		...(node && { node: { name: node.metadata.name, uid: node.metadata.uid } }),
	};
}

function isStillBound(store: ObjectStore, { namespace, serviceaccount, pod }: PrivateClaims): boolean {
	const uidOf = (resource: string, name: string) => store.find(resource, storeKey({ namespace, name }))?.metadata.uid;
	return (
		uidOf("serviceaccounts", serviceaccount.name) === serviceaccount.uid &&
		(pod === undefined || uidOf("pods", pod.name) === pod.uid)
	);
}

function userOf({ id, bound: { namespace, serviceaccount, pod, node } }: Claims): User {
	const key = (name: string) => `authentication.kubernetes.io/${name}`;
	return {
		name: `system:serviceaccount:${namespace}:${serviceaccount.name}`,
		uid: serviceaccount.uid,
		groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
		extra: {
			[key("credential-id")]: [`JTI=${id}`],
			...(pod && { [key("pod-name")]: [pod.name], [key("pod-uid")]: [pod.uid] }),
			...(node && { [key("node-name")]: [node.name], [key("node-uid")]: [node.uid] }),
		},
	};
}
