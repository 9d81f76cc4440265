import { describe, expect, test } from "vitest";
import { parseFleet } from "../../../agent/cluster-api/fleet-config.ts";
import { InvalidFleetError } from "../../../disruption/budget/declared-fleet.ts";

describe("parseFleet()", () => {
	const members = [
		{ id: "id-1", name: "eu-1", address: "10.0.0.1:8444" },
		{ id: "id-2", name: "eu-2", address: "[2001:db8::1]:8444" },
	];

	test("reads JSON", async () => {
		expect(await parseFleet({ members: JSON.stringify(members) })).toEqual({ members, forgotten: [] });
	});

	test("reads YAML", async () => {
		const text = [
			"# the fleet",
			"- id: id-1",
			"  name: eu-1",
			"  address: 10.0.0.1:8444",
			"- id: id-2",
			"  name: eu-2",
			'  address: "[2001:db8::1]:8444"',
		].join("\n");
		expect(await parseFleet({ members: text })).toEqual({ members, forgotten: [] });
	});

	test("reads members without an address, and those that are forgotten", async () => {
		const forgotten = "- id: id-3\n  name: eu-1 # as one that is there now\n- id: id-4\n";
		expect(await parseFleet({ members: "- {id: id-1, name: eu-1}", forgotten, others: "ours" })).toEqual({
			members: [{ id: "id-1", name: "eu-1" }],
			forgotten: [{ id: "id-3", name: "eu-1" }, { id: "id-4" }],
		});
	});

	test("reads where the Leases stand", async () => {
		const members = '[{"id":"id-1","name":"eu-1"}]';
		expect(await parseFleet({ members, leaseNamespace: "leases\n" })).toMatchObject({ leaseNamespace: "leases" });
		expect(await parseFleet({ members })).not.toHaveProperty("leaseNamespace");
	});

	const one = { id: "a", name: "b", address: "c:1" };
	const rows = [
		{ name: "nothing", text: "", says: "members is not a list" },
		{ name: "an object", text: "{}", says: "members is not a list" },
		{ name: "an empty list", text: "[]", says: "members is empty" },
		{ name: "what is neither YAML nor JSON", text: "- [", says: "neither YAML nor JSON" },
		{ name: "what refers to nothing", text: "- *nobody", says: "Unresolved alias" },
		{ name: "what is too deep", text: "[".repeat(20_000), says: "it is nested too deeply" },
		{
			name: "a name that steers terminals",
			text: JSON.stringify([{ ...one, name: "\u001b[2J" }]),
			says: "cannot be shown",
		},
		{ name: "an entry that is a text", text: '["a"]', says: "members[0] is not an object" },
		{ name: "an entry without id", text: '[{"name":"b","address":"c:1"}]', says: "members[0].id is not a text" },
		{ name: "an id that is a number", text: JSON.stringify([{ ...one, id: 5 }]), says: "members[0].id is not a text" },
		{ name: "an empty name", text: JSON.stringify([{ ...one, name: "" }]), says: "members[0].name is not a text" },
		{
			name: "a field that nobody knows",
			text: JSON.stringify([{ ...one, url: "x" }]),
			says: "members[0].url is not known",
		},
		{ name: "an id twice", text: JSON.stringify([one, { ...one, name: "z" }]), says: 'two members have the id "a"' },
		{ name: "a name twice", text: JSON.stringify([one, { ...one, id: "z" }]), says: 'two members have the name "b"' },
		...["c", "c:", ":1", "c:0", "c:70000", "c:123456", "https://c:1", "c:1/x", "2001:db8::1:8444", "c d:1"].map(
			(address) => ({
				name: `the address ${JSON.stringify(address)}`,
				text: JSON.stringify([{ ...one, address }]),
				says: "members[0].address is not HOST:PORT",
			}),
		),
		...["2001:db8::1:8444", "2001:db8::1"].map((address) => ({
			name: `an IPv6 address without brackets: ${address}`,
			text: JSON.stringify([{ ...one, address }]),
			says: `members[0].address is not HOST:PORT: "${address}": write an IPv6 address as [ADDRESS]:PORT`,
		})),
	];
	test("is quiet about tags that mean nothing", async () => {
		const warnings: Error[] = [];
		const keep = (warning: Error) => void warnings.push(warning);
		process.on("warning", keep);
		await parseFleet({ members: "- {id: a, name: !house b, address: 'c:1'}" });
		await new Promise(setImmediate);
		process.off("warning", keep);
		expect(warnings).toEqual([]);
	});

	for (const { name, text, says } of rows) {
		test(`refuses ${name}`, async () => {
			const error: unknown = await parseFleet({ members: text }).catch((reason: unknown) => reason);
			expect(error).toBeInstanceOf(InvalidFleetError);
			expect(String(error)).toContain(says);
		});
	}

	test("takes namespaces of sidecars beside the members, and refuses what names none", async () => {
		const members = JSON.stringify([one]);
		expect(await parseFleet({ members, namespaces: "[shop, web]" })).toEqual(await parseFleet({ members }));
		for (const namespaces of ["shop", "[shop, shop]", "[../shop]", "{}", "[5]"]) {
			await expect(parseFleet({ members, namespaces })).rejects.toThrow(InvalidFleetError);
		}
	});

	const broken = [
		{ name: "no members", data: { forgotten: "[]" }, says: "it has no data.members" },
		...["", "Leases", "a/b", "a.b", "-a", "x".repeat(64), 5].map((leaseNamespace) => ({
			name: `Leases in ${JSON.stringify(leaseNamespace)}`,
			data: { members: JSON.stringify([one]), leaseNamespace },
			says: "leaseNamespace is not the name of a namespace",
		})),
		{ name: "members that are no text", data: { members: [] }, says: "members is not a text" },
		...[
			{ name: "an id in both lists", forgotten: '[{"id":"a"}]', says: '"a" is both in members and in forgotten' },
			{ name: "a forgotten id twice", forgotten: '[{"id":"z"},{"id":"z"}]', says: 'two forgotten have the id "z"' },
			{ name: "a forgotten one without id", forgotten: '[{"name":"z"}]', says: "forgotten[0].id is not a text" },
			{ name: "a forgotten id alone", forgotten: "[z]", says: "forgotten[0] is not an object" },
			{ name: "an address of a forgotten one", forgotten: "[{id: z, address: 'c:1'}]", says: "forgotten[0].address" },
			{ name: "no list of forgotten ones", forgotten: "id: z", says: "forgotten is not a list" },
			{ name: "an empty text of forgotten ones", forgotten: "", says: "forgotten is not a list" },
		].map(({ name, forgotten, says }) => ({ name, data: { members: JSON.stringify([one]), forgotten }, says })),
	];
	for (const { name, data, says } of broken) {
		test(`refuses ${name}`, async () => {
			await expect(parseFleet(data)).rejects.toThrow(InvalidFleetError);
			await expect(parseFleet(data)).rejects.toThrow(says);
		});
	}
});
