import { describe, expect, test } from "vitest";
import type { connectFleet } from "../../../plugin/fleet/connect-fleet.ts";
import type { Fleet } from "../../../plugin/fleet/fleet.ts";
import { ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import { readPlan } from "../../../plugin/run/read-plan.ts";
import { FleetUncoveredError } from "../../../plugin/terminal/errors.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";
import { drainOptions } from "../../support/build-drain-options.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";
import { description } from "../../support/samples.ts";

const problem = "no connection within 10s";
const asked: string[] = [];

const answering = (name: string) =>
	newContext(
		name,
		newClient({
			get(path) {
				if (!path.endsWith("/n0")) throw notFound("no such node");
				return { metadata: { name: "n0", uid: `${name}-n0` } };
			},
			list: () => [],
		}),
	);
const silent = newContext(
	"us",
	newClient({
		get(path) {
			asked.push(path);
			throw new ConnectionError("https://us", problem, "us");
		},
	}),
);

/** Connects the fleet of clusters "eu" and "us". With `isMemberSilent`, no agent of "us" answers. */
function connecting(isMemberSilent = false): typeof connectFleet {
	return async (contexts, options) => {
		const lost = contexts.filter((context) => context === silent);
		for (const context of lost) {
			if (!(await options?.mayLose?.(context)))
				throw new FleetUncoveredError("cannot cover", [`${context.name}: ${problem}`]);
		}
		if (isMemberSilent) throw new FleetUncoveredError("cannot cover", ["us: no answer"]);
		const fake = new FakeFleet(["eu", "us"]);
		const fleet: Fleet = {
			members: fake.members,
			descriptions: new Map(fake.members.map(({ id }) => [id, description])),
			problems: [],
			memberOf: (name) => fake.memberOf(name),
			contextOf: () => undefined,
			agentNamespaces: () => [],
			listBudgets: (namespaces) => fake.listBudgets(namespaces),
			reconnect: () => fake.reconnect(),
			leave: () => undefined,
			close: () => undefined,
		};
		return { fleet, uncovered: [], lost: lost.map((context) => ({ context, problem })) };
	};
}

const planOf = (words: readonly string[], connect = connecting()) =>
	readPlan([answering("eu"), silent], { words, selector: "", options: drainOptions }, connect);

describe("readPlan()", () => {
	test("goes on without a context that gives no answer and has no node of the plan, and names it", async () => {
		const plan = await planOf(["eu/n0"]);
		expect(plan.warnings).toEqual([`us: its cluster is asked through the agents of the others: ${problem}`]);
		expect(plan).toMatchObject({ nodes: [{ context: "eu", node: "n0" }], exitCode: 0 });
		expect(asked).toEqual([]);
	});

	test("plans the nodes elsewhere, and says which ones it leaves out", async () => {
		const plan = await planOf(["eu/n0", "us/n0"]);
		expect(plan.warnings).toEqual([
			`node n0 is not in this plan: Unable to connect to the server of context "us": ${problem}`,
		]);
		expect(plan).toMatchObject({ nodes: [{ context: "eu", node: "n0" }], exitCode: 4 });
	});

	test("refuses, and says why, while a member of the fleet is silent", async () => {
		await expect(planOf(["eu/n0"], connecting(true))).rejects.toMatchObject({
			exitCode: 4,
			details: [
				"us: no answer",
				"without the counts of every member of the fleet, no plan can say what the budgets allow",
			],
		});
	});

	test("tells a wrong name first", async () => {
		await expect(planOf(["eu/n7"], connecting(true))).rejects.toMatchObject({ code: 404 });
	});
});
