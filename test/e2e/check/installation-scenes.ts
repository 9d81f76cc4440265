// Scenes of changed installations (codes 1104, 1105, 1601, 1602, 1604), expiring certificates (1502, 1503) and other addresses (1405,
// 1406). They run on their own clusters. The suggested command repairs most faults.
import { agentName } from "../../../disruption/agent-names.ts";
import { memberUri } from "../../../proto/member-certificate.ts";
import { agentNamespaceLabel } from "../../../plugin/install/fleet-objects.ts";
import { createAuthority, signAgentCertificate } from "../../../plugin/install/sign-certificates.ts";
import { type BareClusters, startBareClusters } from "../bare-clusters.ts";
import { neighbourDefinition } from "../neighbour.ts";
import type { Provocation, Scene } from "./provocation.ts";
import type { Place } from "./run-check.ts";

let started: BareClusters | undefined;

export async function startInstallation(): Promise<Place & AsyncDisposable> {
	const bare = await startBareClusters(2);
	started = bare;
	const install = ["install", "--contexts", bare.contexts(), "--image", "example.com/agent:1", ...bare.addresses, "-y"];
	const { code, out, err } = await bare.xpdb(install);
	if (code !== 0) {
		await bare[Symbol.asyncDispose]();
		throw new Error(out + err);
	}
	const { dir, kubeconfigPath } = bare.fleet;
	return { dir, kubeconfigPath, [Symbol.asyncDispose]: () => bare[Symbol.asyncDispose]() };
}

function clusters(): BareClusters {
	if (!started) throw new Error("Nothing is installed");
	return started;
}

const anchor = ["-n", "xpdb-system"];
const both = "--contexts=c1-operator,c2-operator";
const dayMs = 86_400_000;
/** Another field manager, from which an upgrade must take the fields over. */
const asHelm = "--field-manager=helm";

async function kubectl(cluster: string, args: readonly string[], input?: string): Promise<string> {
	return clusters().kubectl(cluster, args, input);
}

async function getJson<T>(cluster: string, words: readonly string[]): Promise<T> {
	return JSON.parse(await kubectl(cluster, ["get", ...words, "-o", "json"])) as T;
}

async function patch(cluster: string, object: readonly string[], change: object, ...flags: string[]): Promise<void> {
	await kubectl(cluster, ["patch", ...object, "--type=merge", "-p", JSON.stringify(change), ...flags]);
}

const nothing = async (): Promise<void> => undefined;
const definition = "xpoddisruptionbudgets.x-pdb.form3.tech";

function olderDefinition(): string {
	return JSON.stringify(neighbourDefinition(), (key, value: unknown) => (key === "suspend" ? undefined : value));
}

/** An upgrade of c1 repairs the first two. An upgrade of c2 that takes over fields repairs the rest. */
const changedObjects: readonly Provocation[] = [
	{
		reason: "BudgetKindMissing",
		fault: "a definition of budgets that was deleted",
		cluster: "c1-operator",
		provoke: () => kubectl("c1", ["delete", "customresourcedefinition", definition]),
		says: `it does not serve ${definition}/v1alpha1: no budget can be made there`,
		fix: "kubectl xpdb upgrade --context c1-operator",
		mend: "fix",
		end: nothing,
	},
	{
		reason: "PolicyMissing",
		fault: "the binding of a policy that was deleted",
		cluster: "c1-operator",
		provoke: () => kubectl("c1", ["delete", "validatingadmissionpolicybinding", "xpdb-leases"]),
		says: "ValidatingAdmissionPolicy xpdb-leases is not in force: its binding is missing",
		fix: "kubectl xpdb upgrade --context c1-operator",
		mend: "fix",
		end: nothing,
	},
	{
		reason: "BudgetKindDiffers",
		fault: "a definition of budgets by an older x-pdb",
		cluster: "c2-operator",
		async provoke() {
			await kubectl("c2", ["delete", "customresourcedefinition", definition]);
			await kubectl("c2", ["apply", "--server-side", asHelm, "-f", "-"], olderDefinition());
		},
		says: `the definition of ${definition} has no spec.suspend: the API server drops what is written there`,
		fix: "kubectl xpdb upgrade --force-conflicts --context c2-operator",
		mend: "fix",
		end: nothing,
	},
	{
		reason: "PolicyWeak",
		fault: "a policy that somebody has made let errors pass",
		cluster: "c2-operator",
		provoke: () =>
			patch("c2", ["validatingadmissionpolicy", "xpdb-leases"], { spec: { failurePolicy: "Ignore" } }, asHelm),
		says: "ValidatingAdmissionPolicy xpdb-leases lets pass what it cannot evaluate (failurePolicy: Ignore)",
		fix: "kubectl xpdb upgrade --force-conflicts --context c2-operator",
		mend: "fix",
		end: nothing,
	},
];

interface Pair {
	readonly data: Readonly<Record<"tls.crt" | "tls.key", string>>;
}

const decoded = (text: string): string => Buffer.from(text, "base64").toString();
const encoded = (text: string): string => Buffer.from(text).toString("base64");

/** Replaces the certificate with one that is valid for only five more days. The CA's key is in the first context's cluster. */
async function bringOldCertificate(): Promise<void> {
	const { data } = await getJson<Pair>("c1", ["secret", "xpdb-fleet-ca", ...anchor]);
	const authority = { certificate: decoded(data["tls.crt"]), key: decoded(data["tls.key"]) };
	const { id = "" } = clusters().fleet.clusters.find(({ name }) => name === "c1") ?? {};
	const { certificate, key } = await signAgentCertificate(authority, {
		commonName: agentName,
		dnsName: `${agentName}.xpdb-system.svc`,
		uri: memberUri(id),
		now: new Date(Date.now() - 360 * dayMs),
	});
	const pair = { "tls.crt": encoded(certificate), "tls.key": encoded(key) };
	await patch("c1", ["secret", "xpdb-agent-tls", ...anchor], { data: pair });
}

/** Also trusts a CA that expires in five days, as during an unfinished change of the CA. */
async function keepOldAuthority(): Promise<void> {
	const path = ["configmap", "xpdb-ca", ...anchor];
	const { data } = await getJson<{ readonly data: { readonly "ca.crt": string } }>("c2", path);
	const { certificate } = await createAuthority(new Date(Date.now() - 3_645 * dayMs));
	await patch("c2", path, { data: { "ca.crt": data["ca.crt"] + certificate } });
}

/** Only an administrator's check finds this, because an operator cannot see who may read the key. */
const readableKey: Provocation = {
	reason: "CaKeyReadable",
	fault: "an account that somebody has let read Secrets",
	cluster: "c1",
	async provoke() {
		await kubectl("c1", ["create", "role", "read-secrets", ...anchor, "--verb=get,list", "--resource=secrets"]);
		const subject = "--serviceaccount=default:ci";
		await kubectl("c1", ["create", "rolebinding", "read-secrets", ...anchor, "--role=read-secrets", subject]);
	},
	says: "Secret xpdb-system/xpdb-fleet-ca can be read by default/ci: each of them can sign a certificate for every member of the fleet",
	fix: "kubectl get rolebindings,clusterrolebindings -n xpdb-system -o wide --context c1",
	mend: () => kubectl("c1", ["delete", "rolebinding", "read-secrets", ...anchor]),
	end: () => kubectl("c1", ["delete", "role", "read-secrets", ...anchor]),
};

const expiring: readonly Provocation[] = [
	{
		reason: "CertificateExpires",
		fault: "agents whose certificate is good for five days more",
		cluster: "c1-operator",
		provoke: bringOldCertificate,
		says: /^the certificate of pod xpdb-system\/xpdb-agent-\S+ expires on [\d-]+: an expired one ends all calls between clusters$/,
		fix: `kubectl xpdb install certs --rotate ${both}`,
		mend: "fix",
		end: nothing,
	},
	{
		reason: "CaExpires",
		fault: "a certificate of a CA that is good for five days more",
		cluster: "c2-operator",
		provoke: keepOldAuthority,
		says: `a certificate of the fleet's CA at pod xpdb-system/xpdb-agent-`,
		fix: `kubectl xpdb install certs --rotate --ca ${both}`,
		mend: "fix",
		end: nothing,
	},
];

const service = "xpdb-peers";
const peerPort = 8_444;

function addressOf(cluster: string): string {
	return clusters().fleet.clusters.find(({ name }) => name === cluster)?.address ?? "";
}

async function makeService(cluster: string): Promise<void> {
	const metadata = {
		name: service,
		namespace: "xpdb-system",
		labels: { "app.kubernetes.io/name": agentName, [agentNamespaceLabel]: "xpdb-system" },
	};
	const ports = [{ name: "peers", port: peerPort, protocol: "TCP", targetPort: "peers" }];
	const spec = { type: "LoadBalancer", selector: { "app.kubernetes.io/name": agentName }, ports };
	await kubectl(cluster, ["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Service", metadata, spec }));
}

/** Sets the address as a cloud's controller does. */
async function offerAddress(cluster: string): Promise<void> {
	const change = { status: { loadBalancer: { ingress: [{ ip: addressOf(cluster) }] } } };
	await patch(cluster, ["service", service, ...anchor], change, "--subresource=status");
}

/** Lists an address at which nothing listens. */
async function listOldAddress(): Promise<void> {
	const bare = clusters();
	const address = `--address=c1=${addressOf("c1")}:9`;
	const { out, err } = await bare.xpdb(["install", "--contexts", bare.contexts(), address, "-y"]);
	if (!out.includes("c1  configmap/xpdb-fleet changed")) throw new Error(out + err);
}

const deleteService = (cluster: string) => () =>
	kubectl(cluster, ["delete", "service", service, ...anchor, "--ignore-not-found"]);

const otherAddress: Provocation = {
	reason: "AddressDiffers",
	fault: "a list with the address of a load balancer of before",
	cluster: "c1-operator",
	async provoke() {
		await listOldAddress();
		await makeService("c1");
		await offerAddress("c1");
	},
	says: /^service\/xpdb-peers is reached at \S+:8444, and the fleet lists \S+:9 for c1, which it has not \(any more\)$/,
	fix: new RegExp(`^kubectl xpdb install --address=c1=\\S+:8444 ${both}$`),
	mend: "fix",
	end: deleteService("c1"),
};

const noAddress: Provocation = {
	reason: "ServiceWithoutAddress",
	fault: "a load balancer that nobody makes",
	cluster: "c2-operator",
	provoke: () => makeService("c2"),
	says: "service/xpdb-peers cannot be reached from outside: its load balancer has no address yet",
	fix: "kubectl describe service xpdb-peers -n xpdb-system --context c2-operator",
	mend: () => offerAddress("c2"),
	end: deleteService("c2"),
};

const args = ["--contexts", "c1-operator,c2-operator"];

export const installationScenes: readonly Scene[] = [
	{
		name: "objects that were deleted, and others that somebody has changed",
		args,
		rows: changedObjects,
		besides: ["NotChecked"],
	},
	{ name: "a key that a program can read", args: ["--contexts", "c1,c2"], rows: [readableKey] },
	{ name: "certificates that expire", args, rows: expiring },
	{
		name: "an address that is another one, and a Service without any",
		args,
		rows: [otherAddress, noAddress],
		besides: ["MembersApart"],
	},
];
