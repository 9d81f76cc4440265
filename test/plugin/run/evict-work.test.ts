import { expect, test } from "vitest";
import type { ListedBudgets } from "../../../disruption/budget/coverage-judgement.ts";
import { parseCommandLine } from "../../../plugin/cli.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { SuggestedCommands } from "../../../plugin/flags/suggested-commands.ts";
import { evictWork } from "../../../plugin/run/evict-work.ts";
import type { EvictionSession } from "../../../plugin/run/eviction-session.ts";
import { ToldSuspensions } from "../../../plugin/evictions/told-suspensions.ts";
import { RunRecord } from "../../../plugin/run/run-record.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

test("an eviction tells of suspended budgets before anybody is asked, by what was listed while the fleet was reached", async () => {
	const fleet = new FakeFleet(["eu"]);
	fleet.addBudget("db", { maxUnavailable: 1, suspend: true });
	const { context } = fleet.member("eu");
	const parsed = await parseCommandLine(["evict", "db-0"]);
	if (parsed.kind !== "command") throw new Error("no command");
	const events: RunEvent[] = [];
	const emit = (event: RunEvent): void => void events.push(event);
	const options = { wait: true, replaced: false, timeoutMs: 0, gracePeriodSeconds: -1, dryRun: "none" } as const;
	const pod = newV1Pod("db-0", { namespace: "shop", labels: { app: "db" } });
	const work = evictWork(
		{ pods: [{ pod, context }], options, readAt: 0 },
		{
			command: "evict",
			input: parsed.input,
			deps: { streams: collectStreams(), env: {}, interrupts: new InterruptSource(() => undefined) },
		},
		{
			contexts: [context],
			emit,
			record: new RunRecord("evict", () => 0),
			suggest: new SuggestedCommands(parsed.input.globals),
			writesJson: false,
			drawsReport: false,
			screen: undefined,
			offer: () => undefined,
		},
	);
	if (work.kind !== "evictions") throw new Error("nothing to do");
	let asked = 0;
	const foresee = async (listedAhead: ListedBudgets | undefined) => {
		events.length = 0;
		const session = {
			suspensions: new ToldSuspensions({ emit, wallClock: () => 0 }),
			fleet: {
				memberOf: (name: string) => fleet.memberOf(name),
				listedAhead,
				listBudgets(namespaces: readonly string[]) {
					asked += 1;
					return fleet.listBudgets(namespaces);
				},
			},
		};
		// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of it is used
		await work.foresee?.(session as unknown as EvictionSession);
		return events;
	};
	const told = [expect.objectContaining({ type: "diagnostic", reason: "BudgetSuspended", budget: "shop/db" })];
	const members = await fleet.listBudgets(["shop"]);
	expect(await foresee({ askedAt: 0, namespaces: ["shop"], members })).toEqual(told);
	expect(asked).toBe(0);
	expect(await foresee(undefined)).toEqual(told);
	expect(asked).toBe(1);
});
