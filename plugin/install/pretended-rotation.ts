// Simulates a rotation and changes nothing. Writes go into a model of the clusters, and agents are assumed to use them immediately. So a
// dry run goes through the same steps and refusals as a real run.
import type { AgentCertificates, CertificateMark } from "../../proto/agent-cluster.ts";
import { UsageError } from "../terminal/errors.ts";
import { agentSecret, caConfigMap, caKey, nextCertificateKey, nextPrivateKeyKey } from "./certificate-objects.ts";
import type { ClusterObject } from "./cluster-object.ts";
import { readAuthorities } from "./judge-certificate.ts";
import type { ClusterCertificates } from "./read-certificates.ts";
import type { RotationWorld } from "./rotate-certificates.ts";

/** `rehearse`: each write also goes to `world`, which sends it as a dry run. */
export function pretendRotation(world: RotationWorld, { rehearse }: { readonly rehearse: boolean }): RotationWorld {
	let picture: Promise<Map<string, ClusterCertificates>> | undefined;
	const look = (): Promise<Map<string, ClusterCertificates>> => {
		picture ??= world.read().then((clusters) => new Map(clusters.map((each) => [each.context, each])));
		return picture;
	};
	const change = async (
		context: string,
		changed: (cluster: ClusterCertificates) => ClusterCertificates,
	): Promise<void> => {
		const clusters = await look();
		const cluster = clusters.get(context);
		if (!cluster) throw new Error(`no context "${context}"`);
		clusters.set(context, changed(cluster));
	};
	return {
		read: async () => [...(await look()).values()],
		async write(context, object) {
			if (rehearse) await world.write(context, object);
			await change(context, (cluster) => withWritten(cluster, object));
		},
		async removeAuthority(context) {
			if (rehearse) await world.removeAuthority(context);
			await change(context, (cluster) => ({ ...cluster, authority: undefined }));
		},
		// An Event would report something that did not happen.
		recordUse: async () => undefined,
		async agents(context) {
			const cluster = (await look()).get(context);
			const agents = await world.agents(context);
			// Agents too old to report their certificates are refused, as in a real run.
			return agents.map(({ name, certificates }) => ({ name, certificates: certificates && ofCluster(cluster) }));
		},
		problem: (context) => world.problem(context),
		async pause() {
			throw new UsageError(
				"the agents of a cluster cannot be asked now, and a dry run does not wait for them",
				"See 'kubectl xpdb check'",
			);
		},
		now: () => world.now(),
	};
}

function ofCluster(cluster: ClusterCertificates | undefined): AgentCertificates {
	const [certificate = { sha256: "", expiresAtSeconds: 0 }] = marksIn(cluster?.agent?.certificate ?? "");
	return { certificate, authorities: marksIn(cluster?.ca ?? "") };
}

function marksIn(bundle: string): readonly CertificateMark[] {
	return readAuthorities(bundle).map(({ fingerprint256 }) => ({ sha256: fingerprint256, expiresAtSeconds: 0 }));
}

function withWritten(cluster: ClusterCertificates, { metadata, ...object }: ClusterObject): ClusterCertificates {
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they are made by certificate-objects.ts
	const data = object["data"] as Readonly<Record<string, string>>;
	const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
	if (metadata.name === caConfigMap) return { ...cluster, ca: data[caKey] };
	const current = { certificate: text("tls.crt"), key: text("tls.key") };
	if (metadata.name === agentSecret) return { ...cluster, agent: current };
	const next = { certificate: text(nextCertificateKey), key: text(nextPrivateKeyKey) };
	return { ...cluster, authority: { current, ...(next.key !== "" && { next }) } };
}
