import type { V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import type { ListedBudgets } from "../../../disruption/budget/coverage-judgement.ts";
import { parseCommandLine } from "../../../plugin/cli.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import type { EvictionJob } from "../../../plugin/evictions/eviction-job.ts";
import type { DryRun } from "../../../plugin/flags/dry-run.ts";
import { SuggestedCommands } from "../../../plugin/flags/suggested-commands.ts";
import { evictWork } from "../../../plugin/run/evict-work.ts";
import type { EvictionSession } from "../../../plugin/run/eviction-session.ts";
import { ToldSuspensions } from "../../../plugin/evictions/told-suspensions.ts";
import { RunRecord } from "../../../plugin/run/run-record.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

async function newWork(pod: V1Pod, dryRun: DryRun = "none") {
	const fleet = new FakeFleet(["eu"]);
	fleet.addBudget("db", { maxUnavailable: 1, suspend: true });
	const { context } = fleet.member("eu");
	const parsed = await parseCommandLine(["evict", pod.metadata?.name ?? ""]);
	if (parsed.kind !== "command") throw new Error("no command");
	const events: RunEvent[] = [];
	const emit = (event: RunEvent): void => void events.push(event);
	const options = { wait: true, replaced: false, timeoutMs: 0, gracePeriodSeconds: -1, dryRun };
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
	return { fleet, work, events, emit };
}

test("an eviction tells of suspended budgets before anybody is asked, by what was listed while the fleet was reached", async () => {
	const { fleet, work, events, emit } = await newWork(newV1Pod("db-0", { namespace: "shop", labels: { app: "db" } }));
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

describe("a static pod", () => {
	const pod = newV1Pod("etcd-n1", {
		namespace: "kube-system",
		annotations: { "kubernetes.io/config.mirror": "checksum" },
		owner: { kind: "Node", name: "n1" },
		node: "n1",
	});
	const warning = {
		type: "diagnostic",
		level: "warning",
		context: "eu",
		message:
			"pod kube-system/etcd-n1 is a static pod: an eviction does not stop it, because its kubelet runs it from a file on node n1. A drain skips it",
	};

	test("is named before anybody is asked, and no replacement is expected", async () => {
		const { work, events } = await newWork(pod);
		if (work.kind !== "evictions") throw new Error("nothing to do");
		const jobs: EvictionJob[] = [];
		const session = {
			limit: () => undefined,
			evictions: {
				async evict(job: EvictionJob) {
					jobs.push(job);
					return { kind: "evicted" };
				},
			},
		};
		// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of it is used
		const unsafe = session as unknown as EvictionSession;
		await work.foresee?.(unsafe);
		expect(events).toEqual([warning]);
		await work.work(unsafe);
		expect(jobs.map(({ staysAway }) => staysAway)).toEqual([true]);
	});

	test("is named in a client's dry run", async () => {
		const { events } = await newWork(pod, "client");
		expect(events).toEqual([warning, expect.objectContaining({ type: "pod.evicting", pod: "etcd-n1" })]);
	});
});
