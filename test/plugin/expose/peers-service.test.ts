import type { V1Node, V1Service } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import type { Exposure } from "../../../plugin/install/expose/exposure.ts";
import { chooseAddress, offeredAddresses } from "../../../plugin/install/expose/offered-addresses.ts";
import { peersServiceObject, readExposure } from "../../../plugin/install/expose/peers-service.ts";
import { deployManifests } from "../../../plugin/install/deploy-manifests.ts";

const balancer: Exposure = {
	kind: "loadbalancer",
	loadBalancerClass: "service.k8s.aws/nlb",
	annotations: { "example.com/b": "2", "example.com/a": "1" },
	sources: ["10.0.0.0/8"],
};

/** Returns the Service with the fields that the cluster and its cloud add. */
function inCluster(exposure: Exposure, more: object = {}): V1Service {
	const { metadata, spec } = structuredClone(
		peersServiceObject("xpdb-system", exposure),
	) as unknown as Required<V1Service>;
	return {
		metadata: { ...metadata, annotations: { ...metadata.annotations, "cloud.example.com/status": "made" } },
		spec: { ...spec, clusterIP: "10.96.0.7", ports: [{ ...spec.ports?.[0], port: 8444, nodePort: 31_234 }] },
		status: {},
		...more,
	};
}

describe("peersServiceObject()", () => {
	test("passes port 8444 on to the agents, and nothing else of them", () => {
		expect(peersServiceObject("budgets", { kind: "nodeport", annotations: {}, sources: [] })).toEqual({
			apiVersion: "v1",
			kind: "Service",
			metadata: { name: "xpdb-peers", namespace: "budgets", labels: { "app.kubernetes.io/name": "xpdb-agent" } },
			spec: {
				type: "NodePort",
				ipFamilyPolicy: "PreferDualStack",
				selector: { "app.kubernetes.io/name": "xpdb-agent" },
				ports: [{ name: "peers", port: 8444, protocol: "TCP", targetPort: "peers" }],
			},
		});
		const [agents] = deployManifests("budgets").filter(({ kind }) => kind === "Deployment");
		expect(agents && JSON.stringify(agents)).toContain('{"name":"peers","containerPort":8444}');
	});

	test("leaves the IP versions of a load balancer to the cluster, because clouds refuse those that they do not have", () => {
		expect(peersServiceObject("xpdb-system", balancer)["spec"]).not.toHaveProperty("ipFamilyPolicy");
	});

	test("names its annotations, in one order", () => {
		expect(peersServiceObject("xpdb-system", balancer).metadata["annotations"]).toEqual({
			"example.com/a": "1",
			"example.com/b": "2",
			"xpdb.form3.tech/expose-annotations": "example.com/a,example.com/b",
		});
	});

	test("is read back as it was meant, without what the cluster and its cloud add", () => {
		for (const exposure of [balancer, { kind: "nodeport", annotations: {}, sources: [] } as const]) {
			expect(readExposure(inCluster(exposure))).toEqual(exposure);
		}
		expect(readExposure({ spec: { type: "ClusterIP" } })).toBeUndefined();
	});
});

describe("offeredAddresses()", () => {
	const ingress = (...entries: readonly object[]) =>
		offeredAddresses(inCluster(balancer, { status: { loadBalancer: { ingress: entries } } }), []);

	const rows = [
		{ name: "an IP address", entries: [{ ip: "203.0.113.7" }], expected: ["203.0.113.7:8444"] },
		{ name: "an address of IPv6", entries: [{ ip: "2001:db8::7" }], expected: ["[2001:db8::7]:8444"] },
		{ name: "a host name", entries: [{ hostname: "a.elb.example.com" }], expected: ["a.elb.example.com:8444"] },
		{
			name: "the name first where there are both",
			entries: [{ ip: "203.0.113.7", hostname: "a.example.com" }, { ip: "203.0.113.8" }],
			expected: ["a.example.com:8444", "203.0.113.7:8444", "203.0.113.8:8444"],
		},
		{
			name: "only what serves the port",
			entries: [{ ip: "203.0.113.7", ports: [{ port: 8444, protocol: "TCP", error: "Quota" }] }, { ip: "203.0.113.8" }],
			expected: ["203.0.113.8:8444"],
		},
	];
	test.each(rows)("of a load balancer: $name", ({ entries, expected }) => {
		const offered = ingress(...entries);
		expect(offered.kind === "some" && offered.addresses.map(({ address }) => address)).toEqual(expected);
	});

	test("of a load balancer: none, and why", () => {
		expect(ingress()).toEqual({ kind: "none", why: "its load balancer has no address yet" });
		expect(ingress({ ip: "203.0.113.7", ports: [{ port: 8444, protocol: "TCP", error: "Quota" }] })).toEqual({
			kind: "none",
			why: "its load balancer does not serve port 8444: Quota",
		});
	});

	const nodePort = inCluster({ kind: "nodeport", annotations: {}, sources: [] });
	const node = (name: string, addresses: Readonly<Record<string, string>>, more: object = {}): V1Node => ({
		metadata: { name },
		spec: {},
		status: {
			conditions: [{ type: "Ready", status: "True" }],
			addresses: Object.entries(addresses).map(([type, address]) => ({ type, address })),
		},
		...more,
	});

	test("of a node port: that of the Service, at the first node that others can come to, and says which", () => {
		const nodes = [
			node("c", { InternalIP: "10.0.0.3", ExternalIP: "203.0.113.3", Hostname: "c" }),
			node("b", { InternalIP: "10.0.0.2" }),
			node("a", { InternalIP: "10.0.0.1" }, { spec: { unschedulable: true } }),
		];
		expect(offeredAddresses(nodePort, nodes)).toEqual({
			kind: "some",
			addresses: [
				{ address: "203.0.113.3:31234", of: "ExternalIP of node c" },
				{ address: "10.0.0.2:31234", of: "InternalIP of node b" },
				{ address: "10.0.0.3:31234", of: "InternalIP of node c" },
			],
		});
	});

	const families = [
		{ name: "IPv4", ipFamilies: ["IPv4"], expected: ["10.0.0.1:31234", "10.0.0.2:31234"] },
		{ name: "IPv6", ipFamilies: ["IPv6"], expected: ["[2001:db8::1]:31234", "[fd00::2]:31234"] },
		{
			name: "both",
			ipFamilies: ["IPv6", "IPv4"],
			expected: ["[2001:db8::1]:31234", "10.0.0.1:31234", "10.0.0.2:31234", "[fd00::2]:31234"],
		},
	];
	test.each(families)(
		"of a node port that serves $name: no address that it does not serve",
		({ ipFamilies, expected }) => {
			const service = { ...nodePort, spec: { ...nodePort.spec, ipFamilies } };
			const nodes = [
				node("a", { ExternalIP: "2001:db8::1", InternalIP: "10.0.0.1" }),
				{
					...node("b", {}),
					status: {
						conditions: [{ type: "Ready", status: "True" }],
						addresses: ["10.0.0.2", "fd00::2"].map((address) => ({ type: "InternalIP", address })),
					},
				},
			];
			const offered = offeredAddresses(service, nodes);
			expect(offered.kind === "some" && offered.addresses.map(({ address }) => address)).toEqual(expected);
		},
	);

	const none = [
		{
			name: "addresses of another IP version alone",
			service: { ...nodePort, spec: { ...nodePort.spec, ipFamilies: ["IPv6"] } },
			nodes: [node("a", { InternalIP: "10.0.0.1" })],
			why: "no node of it has an IPv6 address",
		},
		{
			name: "no port yet",
			service: { spec: { type: "NodePort", ports: [{ port: 8444 }] } },
			nodes: [],
			why: "it has no node port yet",
		},
		{ name: "no nodes", service: nodePort, nodes: [], why: "none of its 0 nodes is ready and uncordoned" },
		{
			name: "nodes that are not ready, go, or stay out",
			service: nodePort,
			nodes: [
				node("a", { InternalIP: "10.0.0.1" }, { status: {} }),
				node("b", { InternalIP: "10.0.0.2" }, { metadata: { name: "b", deletionTimestamp: new Date() } }),
				node("c", {}, { metadata: { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" } } }),
			],
			why: "none of its 3 nodes is ready and uncordoned",
		},
		{
			name: "nodes with names alone",
			service: nodePort,
			nodes: [node("a", { Hostname: "a" })],
			why: "no node of it has an IP address",
		},
	];
	test.each(none)("of a node port: none with $name", ({ service, nodes, why }) => {
		expect(offeredAddresses(service, nodes)).toEqual({ kind: "none", why });
	});
});

describe("chooseAddress()", () => {
	const [first, second] = ["10.0.0.1:31234", "10.0.0.2:31234"].map((address) => ({ address, of: "" }));
	if (!first || !second) throw new Error("there are two");
	const offered = { kind: "some", addresses: [first, second] } as const;

	test("stays with the one that is listed as long as it is offered", () => {
		expect(chooseAddress(offered, second.address)).toBe(second);
		expect(chooseAddress(offered, "10.0.0.9:31234")).toBe(first);
		expect(chooseAddress(offered, undefined)).toBe(first);
	});

	test("knows a listed IPv6 address that is written in another way", () => {
		const listed = { address: "[2001:db8::7]:8444", of: "" };
		expect(chooseAddress({ kind: "some", addresses: [first, listed] }, "[2001:DB8:0::7]:8444")).toBe(listed);
	});
});
