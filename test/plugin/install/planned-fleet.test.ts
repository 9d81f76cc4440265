import { describe, expect, test } from "vitest";
import { objectText } from "../../../plugin/install/cluster-object.ts";
import { exposureLines, lateAddressWarnings, memberWarnings } from "../../../plugin/install/expose/exposure-lines.ts";
import type { Exposure } from "../../../plugin/install/expose/exposure.ts";
import type { FoundPeers } from "../../../plugin/install/expose/read-peers.ts";
import type { FoundCluster } from "../../../plugin/install/found-cluster.ts";
import { planFleet } from "../../../plugin/install/planned-fleet.ts";
import { newContext } from "../../support/build-context.ts";
import { newFoundCluster } from "../../support/build-found-cluster.ts";
import { newSettingsChoice } from "../../support/settings-choice.ts";

const balancer: Exposure = { kind: "loadbalancer", annotations: {}, sources: [] };

function served(exposure: Exposure, ...addresses: readonly string[]): FoundPeers {
	const [first, ...others] = addresses.map((address) => ({ address, of: "" }));
	const offered = first
		? ({ kind: "some", addresses: [first, ...others] } as const)
		: ({ kind: "none", why: "it has no address yet" } as const);
	return { exposure, offered };
}

function clusters(
	all: Readonly<Record<string, { readonly address?: string; readonly peers?: FoundPeers }>>,
): readonly FoundCluster[] {
	const members = Object.entries(all).map(([name, { address }]) => ({
		id: `id-${name}`,
		name,
		...(address !== undefined && { address }),
	}));
	return Object.entries(all).map(([name, { peers }]) =>
		newFoundCluster(newContext(name), { fleet: { members, forgotten: [] }, image: "example.com/agent:1", peers }),
	);
}

function plan(found: readonly FoundCluster[], kinds: readonly string[], more: object = {}) {
	const expose = { kinds, classes: [], annotations: [], sources: [], ...more };
	const options = {
		image: undefined,
		agentSettings: newSettingsChoice(),
		operators: { groups: [], teams: [] },
		addresses: new Map(),
		expose,
	};
	const planned = planFleet(found, options);
	const services = planned.clusters.map(({ objects }) =>
		objects
			.filter((object) => objectText(object) === "service/xpdb-peers")
			.map(({ spec }) => (spec as { type: string }).type),
	);
	const addresses = planned.members.map(({ address }) => address);
	return { planned, services: services.map(([type]) => type), addresses, awaited: [...planned.awaited] };
}

describe("planFleet(), addresses", () => {
	test("makes Services where flags say so, and waits for their addresses before it lists them", () => {
		const found = clusters({ eu: { address: "eu.example.com:8444" }, us: {} });
		const { planned, ...rest } = plan(found, ["us=loadbalancer"]);
		expect(rest).toEqual({
			services: [undefined, "LoadBalancer"],
			addresses: ["eu.example.com:8444", undefined],
			awaited: ["id-us"],
		});
		expect(exposureLines(planned)).toEqual([
			"us: its address comes from service/xpdb-peers, a load balancer; it is waited for, and then put into the list of every member",
		]);
		expect(memberWarnings(planned)).toEqual([]);
		expect(lateAddressWarnings(planned.clusters, planned)).toEqual([
			expect.stringMatching(
				/^the address of us is not known before service\/xpdb-peers is there and has one, so the lists/,
			),
		]);
	});

	test("changes nothing where all is there: by the same flags, and by none", () => {
		const there = {
			address: "b.example.com:8444",
			peers: served(balancer, "a.example.com:8444", "b.example.com:8444"),
		};
		for (const kinds of [["loadbalancer"], []]) {
			const { planned, ...rest } = plan(clusters({ eu: there }), kinds);
			expect(rest).toEqual({ services: ["LoadBalancer"], addresses: ["b.example.com:8444"], awaited: [] });
			expect([exposureLines(planned), lateAddressWarnings(planned.clusters, planned)]).toEqual([[], []]);
		}
	});

	test("goes on without flags where a Service has got its address, or still has none", () => {
		const found = clusters({ eu: { peers: served(balancer, "a.example.com:8444") }, us: { peers: served(balancer) } });
		expect(plan(found, [])).toMatchObject({ addresses: ["a.example.com:8444", undefined], awaited: ["id-us"] });
		// An upgrade of this member alone could not list the address.
		expect(plan(found.slice(0, 1), [])).toMatchObject({ addresses: [undefined, undefined], awaited: [] });
	});

	test("takes the new address of a load balancer only where flags name it again", () => {
		const found = clusters({
			eu: { address: "old.example.com:8444", peers: served(balancer, "new.example.com:8444") },
		});
		expect(plan(found, []).addresses).toEqual(["old.example.com:8444"]);
		expect(plan(found, ["loadbalancer"]).addresses).toEqual(["new.example.com:8444"]);
	});

	test("waits anew where the kind of Service is another one", () => {
		const found = clusters({ eu: { address: "a.example.com:8444", peers: served(balancer, "a.example.com:8444") } });
		expect(plan(found, ["nodeport"])).toMatchObject({
			services: ["NodePort"],
			addresses: [undefined],
			awaited: ["id-eu"],
		});
	});

	test("takes a Service away with its address, and leaves an address that was given", () => {
		const found = clusters({
			eu: { address: "a.example.com:8444", peers: served(balancer, "a.example.com:8444") },
			us: { address: "us.example.com:8444" },
		});
		const { planned, ...rest } = plan(found, ["none"]);
		expect(rest).toMatchObject({ services: [undefined, undefined], addresses: [undefined, "us.example.com:8444"] });
		expect(planned.clusters.map(({ removed }) => removed.map(objectText))).toEqual([["service/xpdb-peers"], []]);
		expect(memberWarnings(planned)).toEqual([
			expect.stringContaining("without an address the agents of eu are reached"),
		]);
		expect(lateAddressWarnings(planned.clusters, planned)).toEqual([
			"service/xpdb-peers of eu is not among the objects any more: delete it where nothing prunes",
		]);
	});

	const versions = [
		{ name: "both", ipFamilies: ["IPv4", "IPv6"], sources: ["10.0.0.0/8", "2001:db8::/32"], open: [] },
		{ name: "one of two", ipFamilies: ["IPv4", "IPv6"], sources: ["10.0.0.0/8"], open: ["IPv6"] },
		{ name: "another one", ipFamilies: ["IPv6"], sources: ["10.0.0.0/8"], open: ["IPv6"] },
		{ name: "the other way round", ipFamilies: ["IPv4"], sources: ["2001:db8::/32"], open: ["IPv4"] },
		{ name: "none, on purpose", ipFamilies: ["IPv4", "IPv6"], sources: [], open: [] },
		{ name: "one, of a Service that is not there yet", ipFamilies: undefined, sources: ["10.0.0.0/8"], open: [] },
	];
	test.each(versions)("warns of an IP version without a source range: $name", ({ ipFamilies, sources, open }) => {
		const peers = { ...served(balancer, "a.example.com:8444"), ...(ipFamilies && { ipFamilies }) };
		const found = clusters({ eu: { address: "a.example.com:8444", peers } });
		expect(memberWarnings(plan(found, ["loadbalancer"], { sources }).planned)).toEqual(
			open.map((version) =>
				expect.stringMatching(`^eu: service/xpdb-peers serves ${version}, .* no source range is of ${version}`),
			),
		);
	});

	test("says of the only member that it needs no address", () => {
		const { planned } = plan(clusters({ eu: {} }), ["none"]);
		expect(exposureLines(planned)).toEqual(["eu: it has no address, and as the only member needs none"]);
		expect(memberWarnings(planned)).toEqual([]);
	});

	test("refuses another class of a load balancer, which Kubernetes would", () => {
		const found = clusters({ eu: { peers: served(balancer, "a.example.com:8444") } });
		expect(() => plan(found, ["loadbalancer"], { classes: ["example.com/x"] })).toThrow(
			"eu: its load balancer has no class, and Kubernetes changes none to class example.com/x",
		);
	});
});
