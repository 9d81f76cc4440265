import { expect, test } from "vitest";
import { matchMembers } from "../../../plugin/check/member-contexts.ts";

const members = ["c1", "c2", "c3"].map((name) => ({ id: `${name}-id`, name }));
const match = (ids: Readonly<Record<string, string | undefined>>) => {
	const contexts = Object.entries(ids).map(([context, id]) => ({ context, id }));
	const { contextOf, unknown } = matchMembers(contexts, members);
	return { ...Object.fromEntries(contextOf), unknown };
};

const rows = [
	{
		name: "knows contexts by the ids of their clusters",
		ids: { eu: "c1-id", us: "c2-id", ap: "c3-id" },
		expected: { "c1-id": "eu", "c2-id": "us", "c3-id": "ap", unknown: [] },
	},
	{
		name: "takes the only context without an answer for the only member that is left",
		ids: { eu: "c1-id", us: "c2-id", ap: undefined },
		expected: { "c1-id": "eu", "c2-id": "us", "c3-id": "ap", unknown: [] },
	},
	{
		name: "takes a context without an answer for the member of its name",
		ids: { eu: "c1-id", c3: undefined, us: undefined },
		expected: { "c1-id": "eu", "c2-id": "us", "c3-id": "c3", unknown: [] },
	},
	{
		name: "takes none of several for a member",
		ids: { eu: "c1-id", us: undefined, ap: undefined },
		expected: { "c1-id": "eu", unknown: ["us", "ap"] },
	},
	{
		name: "takes a context for none of several members",
		ids: { eu: "c1-id", ap: undefined },
		expected: { "c1-id": "eu", unknown: ["ap"] },
	},
];
for (const { name, ids, expected } of rows) test(name, () => expect(match(ids)).toEqual(expected));
