import { describe, expect, test } from "vitest";
import { type FleetMember, fleetHash } from "../../../disruption/budget/fleet.ts";
import { fleetDifferences, membersWithoutWay } from "../../../plugin/fleet/fleet-differences.ts";
import type { AgentDescription } from "../../../proto/agent-cluster.ts";

const member = (id: string, address?: string): FleetMember => ({
	id,
	name: `eu-${id}`,
	...(address !== undefined && { address }),
});

function described(id: string, members: readonly FleetMember[], more: Partial<AgentDescription> = {}) {
	const description: AgentDescription = {
		clusterId: id,
		clusterName: `eu-${id}`,
		version: "0.1.0",
		features: [],
		members,
		fleetHash: fleetHash(members.map((each) => each.id)),
		leaseNamespace: "xpdb-system",
		...more,
	};
	return { name: `context-${id}`, description };
}

const both = [member("1"), member("2")];

describe("fleetDifferences()", () => {
	test("finds none between clusters that declare the same", () => {
		expect(fleetDifferences([described("1", both), described("2", both.toReversed())])).toEqual([]);
	});

	test("names what each declares where it is not the same", () => {
		expect(fleetDifferences([described("1", [member("1")]), described("2", both)])).toEqual([
			"context-1: declares the fleet eu-1",
			"context-2: declares the fleet eu-1, eu-2",
		]);
	});

	test("names whom a cluster knows and leaves out, also where it is asked alone", () => {
		const alone = described("1", [member("1")], { unresolved: [{ id: "3", name: "eu-3" }] });
		expect(fleetDifferences([alone])).toEqual([
			expect.stringMatching(/^context-1: knows "eu-3" \(id 3\) .* add "- id: 3" under forgotten in every cluster$/),
		]);
	});

	test("names a cluster that does not list itself, and an agent whose hash is of another list", () => {
		expect(fleetDifferences([described("3", both)])).toEqual([
			"context-3: its own id 3 is not among the members that it declares (eu-1, eu-2)",
		]);
		expect(fleetDifferences([described("1", both, { fleetHash: "5f" })])).toEqual([
			"context-1: its agent's hash does not fit the members that it declares",
		]);
	});
});

describe("membersWithoutWay()", () => {
	test("needs a context of every member that has no address", () => {
		expect(membersWithoutWay([described("1", both)])).toEqual([
			expect.stringMatching(/^eu-2 \(id 2\): .* no address .* --contexts$/),
		]);
		expect(membersWithoutWay([described("1", both), described("2", both)])).toEqual([]);
		expect(membersWithoutWay([described("1", [member("1"), member("2", "h:1")])])).toEqual([]);
	});
});
