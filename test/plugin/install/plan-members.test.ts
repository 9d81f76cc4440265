import { describe, expect, test } from "vitest";
import type { DeclaredFleet } from "../../../disruption/budget/fleet.ts";
import { type MemberCandidate, type PlannedAddress, planMembers } from "../../../plugin/install/plan-members.ts";

const eu = { id: "1", name: "eu", address: "eu.example.com:8444" };
const us = { id: "2", name: "us" };
const ap = { id: "3", name: "ap" };
const fleet = (members: DeclaredFleet["members"], forgotten: DeclaredFleet["forgotten"] = []): DeclaredFleet => ({
	members,
	forgotten,
});
const context = (name: string, id: string, declared?: DeclaredFleet): MemberCandidate => ({
	name,
	id,
	fleet: declared,
});
const noAddresses = new Map<string, string>();

describe("planMembers()", () => {
	test("makes a fleet of clusters that have none, in the order of the contexts", () => {
		const planned = planMembers([context("b", "2"), context("a", "1")], new Map([["a", "a.example.com:8444"]]));
		expect(planned.members).toEqual([
			{ id: "2", name: "b" },
			{ id: "1", name: "a", address: "a.example.com:8444" },
		]);
		expect([...planned.joining]).toEqual(["2", "1"]);
	});

	test("keeps the members that are there, with their names and addresses, and adds those that join behind them", () => {
		const there = fleet([eu, us]);
		const planned = planMembers(
			[context("ap", "3"), context("ctx-us", "2", there), context("ctx-eu", "1", there)],
			noAddresses,
		);
		expect(planned.members).toEqual([eu, us, ap]);
		expect([...planned.joining]).toEqual(["3"]);
	});

	test("goes on where the lists were written in some clusters only", () => {
		const planned = planMembers(
			[context("eu", "1", fleet([eu, us, ap])), context("us", "2", fleet([eu, us])), context("ap", "3")],
			noAddresses,
		);
		expect(planned.members).toEqual([eu, us, ap]);
		expect([...planned.joining]).toEqual([]);
	});

	test("changes nothing for an upgrade of one member alone", () => {
		const planned = planMembers([context("eu", "1", fleet([eu, us], [ap]))], noAddresses);
		expect(planned).toEqual({ members: [eu, us], forgotten: [ap], joining: new Set(), awaited: new Set() });
	});

	test("takes an address by the member's name or the context's, and takes it away", () => {
		const there = fleet([eu, us]);
		const of = (addresses: readonly (readonly [string, string])[]) =>
			planMembers([context("ctx-eu", "1", there), context("ctx-us", "2", there)], new Map(addresses)).members;
		expect(of([["eu", "new:1"]])[0]).toEqual({ ...eu, address: "new:1" });
		expect(of([["ctx-us", "us:1"]])[1]).toEqual({ ...us, address: "us:1" });
		expect(of([["eu", ""]])[0]).toEqual({ id: "1", name: "eu" });
	});

	test("takes addresses from Services, waits for those that have none yet, and leaves those that were given", () => {
		const there = fleet([eu, us, ap]);
		const served = (address: PlannedAddress, name: string, id: string) => ({ ...context(name, id, there), address });
		const planned = planMembers(
			[
				served({ kind: "known", address: "10.0.0.1:31234" }, "eu", "1"),
				served({ kind: "awaited" }, "us", "2"),
				served({ kind: "awaited" }, "ctx-ap", "3"),
			],
			new Map([["ap", "ap:1"]]),
		);
		expect(planned.members).toEqual([{ ...eu, address: "10.0.0.1:31234" }, us, { ...ap, address: "ap:1" }]);
		expect([...planned.awaited]).toEqual(["2"]);
		expect(
			planMembers([served({ kind: "none" }, "eu", "1"), context("us", "2"), context("ap", "3")], noAddresses),
		).toMatchObject({ members: [{ id: "1", name: "eu" }, us, ap] });
	});

	test("lists a forgotten member again where its context is named", () => {
		const there = fleet([eu, us], [ap]);
		const planned = planMembers(
			[context("eu", "1", there), context("us", "2", there), context("ap", "3")],
			noAddresses,
		);
		expect(planned).toEqual({ members: [eu, us, ap], forgotten: [], joining: new Set(["3"]), awaited: new Set() });
	});

	const refused = [
		{
			name: "a member whose context is missing while the list changes",
			candidates: [context("eu", "1", fleet([eu, us])), context("ap", "3")],
			says: "the list of members changes in eu, ap, and us would keep the old one",
		},
		{
			name: "an address of a member whose list others would keep",
			candidates: [context("eu", "1", fleet([eu, us]))],
			addresses: [["us", "us:1"]],
			says: "the list of members changes in eu, and us would keep the old one",
		},
		{
			name: "an address to come that some would not hear of",
			candidates: [{ ...context("us", "2", fleet([eu, us])), address: { kind: "awaited" } }],
			says: "the list of members changes in us, and eu would keep the old one",
		},
		{
			name: "a member that one cluster has forgotten and another lists",
			candidates: [context("eu", "1", fleet([eu, us, ap])), context("us", "2", fleet([eu, us], [ap]))],
			says: 'us has forgotten "ap", which another cluster lists as a member',
		},
		{
			name: "one cluster under two names",
			candidates: [context("a", "1"), context("b", "1")],
			says: 'contexts "a" and "b" are the same cluster',
		},
		{
			name: "a second member of a name",
			candidates: [context("eu", "9"), context("x", "1", fleet([eu]))],
			says: 'two members have the name "eu"',
		},
		{
			name: "an address of nobody",
			candidates: [context("eu", "1")],
			addresses: [["usa", "us:1"]],
			says: '--address names "usa", which is not a member of the fleet; its members are eu',
		},
		{
			name: "an address without a port",
			candidates: [context("eu", "1")],
			addresses: [["eu", "eu.example.com"]],
			says: "members[0].address is not HOST:PORT",
		},
	] as const;
	for (const { name, candidates, says, ...rest } of refused) {
		test(`refuses ${name}`, () => {
			const addresses = "addresses" in rest ? rest.addresses : [];
			expect(() => planMembers(candidates, new Map(addresses))).toThrow(says);
		});
	}
});
