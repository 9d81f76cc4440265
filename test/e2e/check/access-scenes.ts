// Scenes of API servers that are unreachable or too old (codes 1101 and 1102), and of a list without a member's address (1403).
import { type ApiProxy, startApiProxy } from "../../controlplane/api-proxy.ts";
import { sharedFleet } from "../../controlplane/shared-fleet.ts";
import { fleetControl } from "../agents.ts";
import { addressless } from "./fleet-scenes.ts";
import type { Provocation, Scene } from "./provocation.ts";
import { besideBudgets, everywhere } from "./run-check.ts";

const way = { silent: "plugin->c2", old: "plugin->c3" };
const proxyPort = 7_510;

async function setLink(
	link: string,
	condition: Parameters<ReturnType<typeof fleetControl>["setLink"]>[1],
): Promise<void> {
	await fleetControl().setLink(link, condition);
	await fleetControl().resetLink(link);
}

const silent: Provocation = {
	reason: "ApiServerSilent",
	fault: "a cut link to the API server",
	cluster: "c2-operator",
	provoke: () => setLink(way.silent, { cut: true }),
	says: "ECONNRESET",
	fix: "kubectl get --raw '/readyz?verbose' --context c2-operator",
	fixCode: 1,
	end: () => setLink(way.silent, {}),
};

let proxy: ApiProxy | undefined;

function older(text: string): string {
	return text.replace(/("gitVersion": *)"[^"]+"/, '$1"v1.29.14"');
}

const old: Provocation = {
	reason: "ApiServerTooOld",
	fault: "an API server that says that it is of 1.29",
	cluster: "c3-operator",
	async provoke() {
		const cluster = sharedFleet().clusters.find(({ name }) => name === "c3");
		if (!cluster) throw new Error("There is no cluster c3");
		proxy = await startApiProxy(cluster, { host: new URL(cluster.server).hostname, port: proxyPort });
		proxy.onAnswer = ({ path }) => (path === "/version" ? older : undefined);
		await setLink(way.old, { via: proxy.endpoint });
	},
	says: "it is Kubernetes v1.29.14, and xpdb needs 1.30 or newer",
	fix: "kubectl version --context c3-operator",
	async end() {
		await setLink(way.old, {});
		await proxy?.close();
		proxy = undefined;
	},
};

export const accessScenes: readonly Scene[] = [
	{
		name: "API servers that are silent, or too old, and a list without an address",
		args: [...everywhere, ...besideBudgets],
		rows: [silent, old, addressless],
		besides: ["AgentSilent", "NotChecked"],
	},
];
