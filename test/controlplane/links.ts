import type { Endpoint } from "../../demo/machine/endpoint.ts";
import { apiserverPort } from "./components.ts";
import type { LinkProxy } from "./link-proxy.ts";
import { startLinkProxy } from "./link-proxy.ts";

/**
 * The links of a fleet, by name. "plugin->c1" goes from the plugin to the API server of c1, and through it to the agents there.
 * "c1->c1" goes from the agents of c1 to their API server, "c1->c2" to the agents of c2.
 */
export type Links = {
	readonly byName: ReadonlyMap<string, LinkProxy>;
	near(name: string): Endpoint;
	close(): Promise<void>;
};

type LinkedCluster = { readonly name: string; readonly index: number; readonly address: string };

export const peerPort = 8444;
// A link listens at the address of the called side, so that its certificate fits. Port 7000 is for the plugin, 7001 for the agents of c1.
const firstPort = 7000;

export async function startLinks(clusters: readonly LinkedCluster[]): Promise<Links> {
	const byName = new Map<string, LinkProxy>();
	const start = async (name: string, to: LinkedCluster, ports: { readonly near: number; readonly far: number }) => {
		const host = to.address;
		byName.set(name, await startLinkProxy({ near: { host, port: ports.near }, far: { host, port: ports.far } }));
	};
	for (const to of clusters) {
		await start(`plugin->${to.name}`, to, { near: firstPort, far: apiserverPort });
		for (const from of clusters) {
			const far = from === to ? apiserverPort : peerPort;
			await start(`${from.name}->${to.name}`, to, { near: firstPort + from.index, far });
		}
	}
	return {
		byName,
		near(name) {
			const link = byName.get(name);
			if (link === undefined) throw new Error(`No link "${name}": there are ${[...byName.keys()].join(", ")}`);
			return link.near;
		},
		async close() {
			await Promise.all([...byName.values()].map((link) => link.close()));
		},
	};
}
