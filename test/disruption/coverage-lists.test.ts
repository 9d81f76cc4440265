import { describe, expect, test } from "vitest";
import { AgentProtocolError, AgentUnavailableError } from "../../disruption/errors.ts";
import { CoverageLists } from "../../disruption/round/coverage.ts";

/** Creates a fleet of one member without budgets. A list fails with `error` if it includes namespace "huge". */
function setUp(error: Error) {
	const asked: string[] = [];
	const fleet = {
		listedAhead: undefined,
		async listBudgets(namespaces: readonly string[]) {
			asked.push(namespaces.join(","));
			if (namespaces.includes("huge")) throw error;
			return [];
		},
	};
	const runtime = { now: () => 0, sleep: async () => undefined };
	return { asked, lists: new CoverageLists(fleet, runtime) };
}

/** The first list waits for goOn(). */
function setUpSlowly(error: Error) {
	const asked: string[] = [];
	const { promise, resolve } = Promise.withResolvers<void>();
	const fleet = {
		listedAhead: undefined,
		async listBudgets(namespaces: readonly string[]) {
			asked.push(namespaces.join(","));
			await promise;
			if (namespaces.includes("huge")) throw error;
			return [];
		},
	};
	return { asked, goOn: resolve, lists: new CoverageLists(fleet, { now: () => 0, sleep: async () => undefined }) };
}

describe("CoverageLists.list()", () => {
	test("lets an answer that cannot be used fail only the namespace that it is for, each asked for once", async () => {
		const { asked, lists } = setUp(new AgentProtocolError("it lists more than 5000 budgets"));
		const listed = await Promise.allSettled(["shop", "huge", "shop", "bank"].map((namespace) => lists.list(namespace)));
		expect(listed.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
		expect(asked).toEqual(["bank,huge,shop", "shop", "huge", "bank"]);
	});

	test("asks alone also for a namespace that joined a request under way", async () => {
		const { asked, lists, goOn } = setUpSlowly(new AgentProtocolError("it lists more than 5000 budgets"));
		const first = ["shop", "huge"].map((namespace) => lists.list(namespace));
		await new Promise((resolve) => void setImmediate(resolve));
		const joined = lists.list("shop");
		goOn();
		const listed = await Promise.allSettled([...first, joined]);
		expect(listed.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
		expect(asked).toEqual(["huge,shop", "shop", "huge"]);
	});

	test("asks nobody again for a member that gives no answer", async () => {
		const { asked, lists } = setUp(new AgentUnavailableError("no answer", "eu-1"));
		const listed = await Promise.allSettled(["shop", "huge"].map((namespace) => lists.list(namespace)));
		expect(listed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
		expect(asked).toEqual(["huge,shop"]);
	});
});
