// A fleet of real API servers and agents that are reached at ::1. test/demo/ipv6.test.ts does the same with small API servers.
import { describeOnFleet } from "../controlplane/shared-fleet.ts";
import { describeIpv6Fleet, type Ipv6Fleet } from "../support/ipv6-fleet.ts";
import { startBareClusters } from "./bare-clusters.ts";

async function start(): Promise<Ipv6Fleet> {
	const bare = await startBareClusters(2, [], { nodes: 3, onIpv6: true });
	const template = "jsonpath={.clusters[0].cluster.server}";
	return {
		clusters: bare.fleet.clusters.map(({ name, auditLog, client }) => ({
			name,
			auditLog,
			client,
			server: bare.kubectl(name, ["config", "view", "--minify", "-o", template]),
		})),
		addresses: bare.addresses,
		install: (flags) => bare.xpdb(["install", ...flags, "--yes"]),
		xpdb: (args) => bare.xpdb(args),
		[Symbol.asyncDispose]: () => bare[Symbol.asyncDispose](),
	};
}

describeIpv6Fleet("two real clusters at ::1", start, describeOnFleet);
