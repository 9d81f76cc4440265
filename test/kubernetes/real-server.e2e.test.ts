import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";
import type { KeyPair } from "../../demo/machine/certificates.ts";
import { askEtcd } from "../controlplane/etcd-gateway.ts";
import { connectFleet } from "../controlplane/fleet-control.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { eventually } from "../e2e/kubectl.ts";
import { apiServerContract } from "./contract.ts";
import type { ContractTarget } from "./contract-target.ts";

// In continuous integration, c3 runs the oldest Kubernetes and c2 the newest.
describe.each(["c2", "c3"])("in %s", (name) =>
	describeOnFleet("a real API server", () => {
		apiServerContract("Kubernetes", async (): Promise<ContractTarget> => {
			const fleet = sharedFleet();
			const cluster = fleet.clusters.find((each) => each.name === name);
			if (!cluster) throw new Error(`There is no cluster "${name}"`);
			const read = (file: string) => readFileSync(join(cluster.dir, "pki", file), "utf8");
			const pair = (identity: string): KeyPair => ({
				certificate: read(`${identity}.crt`),
				key: read(`${identity}.key`),
			});
			const control = connectFleet(fleet.octet);
			return {
				server: cluster.server,
				isOldest: fleet.oldest.includes(name),
				authority: read("ca.crt"),
				admin: pair("admin"),
				operator: pair("operator"),
				pauseControllers: () => control.freeze(name, "controller-manager"),
				resumeControllers: () => control.thaw(name, "controller-manager"),
				compact: () => compact(cluster.server),
				async httpPod() {
					const ready = async () => (await control.listAgents(name)).filter((agent) => agent.ready);
					await eventually(`a ready agent in ${name}`, async () => (await ready()).length > 0);
					const [agent] = await ready();
					return { namespace: agent?.namespace ?? "", name: agent?.name ?? "", port: 8080 };
				},
				close: async () => undefined,
			};
		});
	}),
);

/** The API server itself does this every five minutes. */
async function compact(server: string): Promise<void> {
	const key = Buffer.from("/").toString("base64");
	const { header } = (await askEtcd(server, "range", { key })) as { header: { revision: string } };
	await askEtcd(server, "compaction", { revision: header.revision });
}
