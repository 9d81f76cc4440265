import { describe, expect, test } from "vitest";
import { fleetHash } from "../../../disruption/budget/fleet.ts";
import type { FleetColumn } from "../../../plugin/check/judge-fleet.ts";
import { fleetDocument } from "../../../plugin/check/fleet-document.ts";
import { fleetMembers, memberCells } from "../../../plugin/check/fleet-members.ts";
import type { AgentDescription } from "../../../proto/agent-cluster.ts";
import { createValidator, strictSchema } from "../../support/json-schema.ts";

const nowSeconds = Date.parse("2026-01-01T00:00:00Z") / 1_000;
const day = 86_400;
const mark = (byte: string, days: number) => ({
	sha256: Array.from({ length: 32 }, () => byte).join(":"),
	expiresAtSeconds: nowSeconds + days * day,
});
const member = (name: string, address = `${name}:8444`) => ({ id: `id-${name}`, name, address });
const certificates = { certificate: mark("0A", 300), authorities: [mark("F1", 3_000)] };

function column(
	name: string,
	members: readonly { readonly id: string; readonly name: string; readonly address?: string }[],
	more: Partial<AgentDescription> = {},
): FleetColumn {
	const heard = members.filter(({ id }) => id !== `id-${name}`).map(({ id }) => ({ id, agoMs: 12_000 }));
	const value: AgentDescription = {
		clusterId: `id-${name}`,
		clusterName: name,
		version: "0.1.0",
		features: [],
		members,
		fleetHash: fleetHash(members.map(({ id }) => id)),
		leaseNamespace: "xpdb-system",
		certificates,
		heard,
		...more,
	};
	return { name, context: `${name}-admin`, description: { kind: "read", value }, listed: member(name) };
}

const both = [member("eu"), member("us")];
const judge = (...columns: readonly FleetColumn[]) => fleetMembers(columns, nowSeconds);

describe("fleetMembers()", () => {
	test("has nothing to say where all say the same", () => {
		const { rows, ...rest } = judge(column("eu", both), column("us", both));
		expect(rest).toEqual({ differences: [], problems: [], warnings: [] });
		expect(rows.map((row) => memberCells(row, false))).toEqual([
			["eu", "Member", "eu:8444", "0.1.0", "12s", "2026-10-28"],
			["us", "Member", "us:8444", "0.1.0", "12s", "2026-10-28"],
		]);
	});

	test("has the forgotten ones last, and who is known and in no list", () => {
		const forgotten = [{ id: "id-ap", name: "ap" }];
		const unresolved = [{ id: "id-sa", name: "sa" }];
		const { rows, differences } = judge(
			column("eu", both, { forgotten, unresolved }),
			column("us", both, { forgotten }),
		);
		expect(rows.map(({ name, state }) => [name, state])).toEqual([
			["eu", "Member"],
			["sa", "Unlisted"],
			["us", "Member"],
			["ap", "Forgotten"],
		]);
		expect(differences).toEqual([expect.stringMatching(/^eu: knows "sa" \(id id-sa\) as a member/)]);
	});

	test("names wherein lists differ", () => {
		const { differences, warnings } = judge(
			column("eu", both, { forgotten: [{ id: "id-ap", name: "ap" }] }),
			column("us", [member("eu", "old:1"), member("us"), member("ap")]),
			column("sa", both),
		);
		expect(differences).toEqual([
			expect.stringContaining("sa: its own id id-sa is not among the members"),
			"eu: declares the fleet eu, us",
			"us: declares the fleet eu, us, ap",
			"sa: declares the fleet eu, us",
		]);
		expect(warnings.slice(0, 2)).toEqual([
			"ap is forgotten by eu, and not by us, sa",
			"eu is listed with different addresses: old:1 (us), eu:8444 (sa)",
		]);
	});

	test("names different addresses of one member", () => {
		const { warnings } = judge(
			column("eu", [member("eu"), member("us"), member("ap", "one:1")]),
			column("us", [member("eu"), member("us"), member("ap", "two:2")]),
		);
		expect(warnings).toEqual(["ap is listed with different addresses: one:1 (eu), two:2 (us)"]);
	});

	test("names no difference if an IPv6 address or a name is only written in another way", () => {
		const { warnings } = judge(
			column("eu", [member("eu"), member("us", "US.example.com:1"), member("ap", "[2001:db8::7]:1")]),
			column("us", [member("eu"), member("us"), member("ap", "[2001:DB8:0::7]:1")]),
			column("ap", [member("eu"), member("us", "us.example.com:1"), member("ap")]),
		);
		expect(warnings.filter((warning) => warning.includes("different addresses"))).toEqual([]);
	});

	test("shows a member that gives no answer, and why", () => {
		const silent: FleetColumn = {
			name: "us",
			context: "",
			description: { kind: "unread", why: "no answer" },
			listed: member("us"),
		};
		const { rows, problems } = judge(column("eu", both), silent);
		expect(rows.find(({ name }) => name === "us")).toMatchObject({
			state: "Silent",
			version: undefined,
			listedBy: ["eu"],
		});
		expect(problems).toEqual(["us: no answer"]);
	});

	test("warns of what ends soon or has ended, of members that are not heard of, and of CAs that not all trust", () => {
		const { warnings } = judge(
			column("eu", both, { certificates: { ...certificates, certificate: mark("0A", 12) }, heard: [] }),
			column("us", both, {
				certificates: { certificate: mark("0B", 300), authorities: [mark("F1", -1), mark("F2", 900)] },
			}),
		);
		expect(warnings).toEqual([
			expect.stringMatching(/different CAs.*: eu trust F1:F1:F1:F1; us trust F1:F1:F1:F1 and F2:F2:F2:F2$/),
			"eu: its certificate, or that of the CA, ends in 12d",
			"us: its certificate, or that of the CA, has expired",
			"us was not seen lately by eu",
		]);
	});

	test("takes older agents, which tell nothing of certificates and greetings", () => {
		const old = (name: string): FleetColumn => {
			const { description, ...rest } = column(name, both);
			if (description.kind === "unread") throw new Error("not read");
			const { certificates: _, heard: __, ...value } = description.value;
			return { ...rest, description: { kind: "read", value } };
		};
		const { rows, warnings } = judge(old("eu"), old("us"));
		expect(warnings).toEqual([]);
		expect(rows.map((row) => memberCells(row, true).slice(3))).toEqual([
			["0.1.0", "-", "-", "-", "eu-admin", "id-eu"],
			["0.1.0", "-", "-", "-", "us-admin", "id-us"],
		]);
	});

	test("is a document as published", () => {
		const forgotten = [{ id: "id-ap", name: "ap" }];
		const members = judge(column("eu", both, { forgotten, heard: [] }), column("us", both));
		expect(createValidator(strictSchema("fleet-v1"))(JSON.parse(JSON.stringify(fleetDocument(members))))).toEqual([]);
	});
});
