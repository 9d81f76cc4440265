import { describe, expect, test } from "vitest";
import { parseCommandLine } from "../../../plugin/cli.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import type { Fleet } from "../../../plugin/fleet/fleet.ts";
import { openEvictions } from "../../../plugin/run/eviction-session.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";
import { newContext } from "../../support/build-context.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";
import { description } from "../../support/samples.ts";

/** Returns a run's events while it connects to a fleet whose agents have this version, beside a cluster without agents. */
async function eventsWith(
	version: string,
	{ silent = [], mayLose = true }: { readonly silent?: readonly string[]; readonly mayLose?: boolean } = {},
): Promise<readonly RunEvent[]> {
	const fake = new FakeFleet(["eu", "us"]);
	const fleet: Fleet = {
		members: fake.members,
		descriptions: new Map(fake.members.map(({ id }) => [id, { ...description, version }])),
		problems: [],
		memberOf: (name) => fake.memberOf(name),
		contextOf: () => undefined,
		agentNamespaces: () => [],
		listBudgets: (namespaces) => fake.listBudgets(namespaces),
		reconnect: () => fake.reconnect(),
		leave: () => undefined,
		close: () => undefined,
	};
	const parsed = await parseCommandLine(["evict", "db-0"]);
	if (parsed.kind !== "command") throw new Error("no command");
	const events: RunEvent[] = [];
	const session = await openEvictions(
		{
			options: { gracePeriodSeconds: -1, deletes: false, dryRun: false },
			waitsUntilGone: false,
			skipWaitAfterSeconds: 0,
			timeoutMs: 0,
			mayLose: () => mayLose,
			connecting: {
				connection: Promise.resolve({
					fleet,
					uncovered: [newContext("ap")],
					lost: silent.map((name) => ({ context: newContext(name), problem: "no connection within 10s" })),
				}),
				silent: new Set(),
			},
		},
		{
			command: "evict",
			input: parsed.input,
			deps: { streams: collectStreams(), env: {}, interrupts: new InterruptSource(() => undefined) },
		},
		{ contexts: [], emit: (event) => void events.push(event) },
	);
	await session.close();
	return events;
}

const textsOf = (events: readonly RunEvent[]) =>
	events.map((event) => (event.type === "diagnostic" ? `${event.level} ${event.context ?? ""}` : event.type));

describe("openEvictions()", () => {
	test("warns of a cluster without agents", async () => {
		expect(textsOf(await eventsWith("0.2.0"))).toEqual(["warning ap"]);
	});

	test("names a context whose API server gives no answer, and where nothing is to be evicted", async () => {
		expect(await eventsWith("0.2.0", { silent: ["us-admin"] })).toContainEqual({
			type: "diagnostic",
			level: "warning",
			context: "us-admin",
			reason: "ServerUnreachable",
			message: "its cluster is asked through the agents of the others: no connection within 10s",
		});
	});

	test("refuses to go on without a context in which something is to be evicted", async () => {
		await expect(eventsWith("0.2.0", { silent: ["us-admin"], mayLose: false })).rejects.toMatchObject({
			details: ["us-admin: no connection within 10s"],
			exitCode: 4,
		});
	});

	test("warns of agents that can let a budget break, once for all of them", async () => {
		const events = await eventsWith("0.1.0");
		expect(textsOf(events)).toEqual(["warning ap", "warning "]);
		expect(events.at(-1)).toMatchObject({ message: expect.stringContaining("eu (0.1.0), us (0.1.0)") as unknown });
	});
});
