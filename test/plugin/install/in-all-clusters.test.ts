import { describe, expect, test } from "vitest";
import { inAllClusters } from "../../../plugin/install/in-all-clusters.ts";
import { UsageError } from "../../../plugin/terminal/errors.ts";

const refusals = {
	c1: new UsageError("c1: cannot read the fleet: forbidden", "see c1"),
	c2: undefined,
	c3: new UsageError("c3: cannot read the agents: forbidden", "see c3"),
	c4: new UsageError("c4: its Kubernetes is too old", "see c3"),
} as const;
type Name = keyof typeof refusals;

const ask = async (name: Name): Promise<string> => {
	const refusal = refusals[name];
	if (refusal) throw refusal;
	return `${name} answers`;
};

describe("inAllClusters()", () => {
	test("gives the answers in their order", async () => {
		await expect(inAllClusters(["c2", "c2"], ask)).resolves.toEqual(["c2 answers", "c2 answers"]);
	});

	test("passes on what one cluster refuses", async () => {
		await expect(inAllClusters(["c2", "c1"], ask)).rejects.toBe(refusals.c1);
	});

	test("tells of all clusters that refuse, and gives each hint once", async () => {
		const error: unknown = await inAllClusters(["c1", "c2", "c3", "c4"], ask).catch((caught: unknown) => caught);
		expect(error).toBeInstanceOf(UsageError);
		expect(error).toMatchObject({
			message: `${refusals.c1.message}\n${refusals.c3.message}\n${refusals.c4.message}`,
			hint: "see c1\nsee c3",
		});
	});

	test("makes no refusal of what is none", async () => {
		const bug = new TypeError("a bug");
		const asked = inAllClusters(["c1", "c2"] satisfies Name[], async (name) => {
			if (name === "c2") throw bug;
			return ask(name);
		});
		await expect(asked).rejects.toBe(bug);
	});
});
