import { describe, expect, test } from "vitest";
import { formatSuspension, suspensionAnnotation } from "../../../disruption/budget/suspension.ts";
import { parseCommandLine } from "../../../plugin/cli.ts";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { findBudget, type SuspensionTarget } from "../../../plugin/fleet/suspension-target.ts";
import { SuggestedCommands } from "../../../plugin/flags/suggested-commands.ts";
import { ApiError, ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import { createPlainWriter } from "../../../plugin/output/plain.ts";
import { RunRecord } from "../../../plugin/run/run-record.ts";
import type { NextCommands } from "../../../plugin/run/run-report.ts";
import { suspensionWork } from "../../../plugin/run/suspension-work.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";
import { BudgetServer } from "../../support/budget-server.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { suggestDefault } from "../../support/suggest-default.ts";

const spec = { maxUnavailable: 1 };
const mine = { by: "alice@laptop", since: "2026-01-01T00:00:00.000Z", reason: "storage migration" };
const bobs = { by: "bob@desk", since: "2025-12-31T23:00:00.000Z" };
const suspendedByBob = { [suspensionAnnotation]: formatSuspension(bobs) };
const name = { namespace: "shop", name: "db" };
const lost = new ConnectionError(
	"https://us",
	Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }),
);
const forbidden = new ApiError('xpoddisruptionbudgets.x-pdb.form3.tech "db" is forbidden', {
	code: 403,
	reason: "Forbidden",
});

interface Asked {
	readonly command?: "suspend" | "unsuspend";
	readonly dryRun?: "none" | "client" | "server";
	/** Called after the versions were read, and before the confirmation. */
	readonly meanwhile?: () => void;
}

async function run(
	servers: readonly BudgetServer[],
	{ command = "suspend", dryRun = "none", meanwhile = () => undefined }: Asked = {},
) {
	const contexts = servers.map(({ context }) => context);
	const parsed = await parseCommandLine([
		command,
		"db",
		"-n",
		"shop",
		`--contexts=${contexts.map((each) => each.name).join(",")}`,
	]);
	if (parsed.kind !== "command") throw new Error("no command");
	const targets = await Promise.all(
		contexts.map(async (context): Promise<SuspensionTarget> => {
			const found = await findBudget(context, name);
			if (!found) throw new Error("no budget");
			return { context, cluster: `cluster-${context.name}`, name, found };
		}),
	);
	for (const server of servers) server.calls.length = 0;
	meanwhile();
	const streams = collectStreams();
	const events: RunEvent[] = [];
	const plain = createPlainWriter({
		suggest: suggestDefault,
		streams,
		contexts: contexts.map((each) => each.name),
		now: () => 0,
		wallClock: () => 0,
	});
	let next: () => NextCommands = () => ({});
	const work = suspensionWork(
		{ name, suspend: command === "suspend", targets, members: [], suspension: mine, dryRun },
		{ command, input: parsed.input, deps: { streams, env: {}, interrupts: new InterruptSource(() => undefined) } },
		{
			contexts,
			emit: (event) => {
				events.push(event);
				plain(event);
			},
			record: new RunRecord(command, () => 0),
			suggest: new SuggestedCommands(parsed.input.globals),
			writesJson: false,
			drawsReport: false,
			screen: undefined,
			offer: (commands) => {
				next = commands;
			},
		},
	);
	const question = work.kind === "budgets" ? work.question : [];
	const result = work.kind === "budgets" ? await work.work(new AbortController().signal) : work;
	if (result.kind !== "ended") throw new Error("it did not end");
	const { failures } = result;
	return { question, failures, events, lines: streams.lines(), undo: next().undo };
}

const undo = "kubectl xpdb unsuspend db -n shop --contexts=eu,us,ap";
const named = (...names: readonly string[]): readonly BudgetServer[] =>
	names.map((each) => new BudgetServer(each, spec));
const statesOf = (servers: readonly BudgetServer[]): readonly unknown[] => servers.map(({ suspend }) => suspend);

describe("suspend", () => {
	test("writes who, when and why in all members, tells it by an Event in each, and how to take it back", async () => {
		const servers = named("eu", "us", "ap");
		const { question, failures, lines, undo: offered } = await run(servers);
		expect(question).toEqual([
			"Suspend budget shop/db in cluster-eu, cluster-us, cluster-ap: it blocks no eviction in the whole fleet until it is unsuspended",
			"  storage migration",
		]);
		expect(failures).toEqual([]);
		expect(lines).toEqual([
			"out: eu  xpoddisruptionbudget.x-pdb.form3.tech/db suspended",
			"out: us  xpoddisruptionbudget.x-pdb.form3.tech/db suspended",
			"out: ap  xpoddisruptionbudget.x-pdb.form3.tech/db suspended",
			`err: Warning: budget shop/db blocks no eviction until you run: ${undo}`,
		]);
		expect(offered).toBe(undo);
		for (const server of servers) {
			expect(server.suspend).toBe(true);
			expect(server.annotations).toEqual({ [suspensionAnnotation]: formatSuspension(mine) });
			expect(server.events).toMatchObject([
				{ reason: "Suspended", type: "Warning", regarding: { uid: `uid-${server.context.name}` } },
			]);
			// All writes are rehearsed first. The Event is sent after all writes have succeeded.
			expect(server.calls).toEqual(["rehearse", "tell", "write", "tell"]);
		}
	});

	test("says of one that is suspended already by whom and since when, and writes nothing", async () => {
		const servers = ["eu", "us"].map((each) => new BudgetServer(each, { ...spec, suspend: true }, suspendedByBob));
		const { question, failures, lines } = await run(servers);
		expect({ question, failures }).toEqual({ question: [], failures: [] });
		const line =
			"xpoddisruptionbudget.x-pdb.form3.tech/db already suspended by bob@desk since 2025-12-31T23:00:00.000Z";
		expect(lines).toEqual([`out: eu  ${line}`, `out: us  ${line}`]);
		expect(servers.flatMap(({ calls }) => calls)).toEqual([]);
	});

	test("adds the members that are missing and leaves the others as they are", async () => {
		const [eu, us] = [new BudgetServer("eu", { ...spec, suspend: true }, suspendedByBob), new BudgetServer("us", spec)];
		const { lines } = await run([eu, us]);
		expect(lines.slice(0, 2)).toEqual([
			"out: eu  xpoddisruptionbudget.x-pdb.form3.tech/db already suspended by bob@desk since 2025-12-31T23:00:00.000Z",
			"out: us  xpoddisruptionbudget.x-pdb.form3.tech/db suspended",
		]);
		expect(eu.annotations).toEqual(suspendedByBob);
		expect(statesOf([eu, us])).toEqual([true, true]);
	});

	for (const { dryRun, calls, suffix } of [
		{ dryRun: "client", calls: [], suffix: " (dry run)" },
		{ dryRun: "server", calls: ["rehearse", "tell"], suffix: " (server dry run)" },
	] as const) {
		test(`--dry-run=${dryRun} changes nothing`, async () => {
			const servers = named("eu", "us");
			const { lines } = await run(servers, { dryRun });
			expect(lines).toEqual(
				["eu", "us"].map((each) => `out: ${each}  xpoddisruptionbudget.x-pdb.form3.tech/db suspended${suffix}`),
			);
			for (const server of servers) expect(server).toMatchObject({ calls, suspend: undefined, events: [] });
		});
	}

	const refusals: readonly {
		readonly name: string;
		readonly fault: (server: BudgetServer) => void;
		readonly says: string;
	}[] = [
		{
			name: "a right to write that is missing",
			fault: (server) => {
				server.onCall = (call) => {
					if (call === "rehearse") throw forbidden;
				};
			},
			says: 'xpoddisruptionbudgets.x-pdb.form3.tech "db" is forbidden',
		},
		{
			name: "a right to tell of it that is missing",
			fault: (server) => {
				server.onCall = (call) => {
					if (call === "tell") throw new ApiError("events.events.k8s.io is forbidden", { code: 403 });
				};
			},
			says: "the Event that tells of it could not be written: events.events.k8s.io is forbidden",
		},
		{
			name: "an edit in between",
			fault: (server) => server.edit({ spec: { maxUnavailable: 2 } }),
			says: "the object has been modified",
		},
		{
			name: "a definition that drops spec.suspend",
			fault: (server) => {
				server.dropsSuspend = true;
			},
			says: "its API server accepted the change, but spec.suspend is still unset",
		},
	];
	for (const { name: why, fault, says } of refusals) {
		test(`${why} in one member: nothing is touched anywhere`, async () => {
			const servers = named("eu", "us", "ap");
			const {
				failures,
				lines,
				events,
				undo: offered,
			} = await run(servers, { meanwhile: () => servers[1] && fault(servers[1]) });
			expect(failures).toMatchObject([{ unreachable: false }]);
			expect(lines).toEqual([`err: us  error: unable to suspend budget "db": ${says}`, "err: Nothing was touched."]);
			expect(events.some(({ type }) => type === "budget.suspended")).toBe(false);
			expect(offered).toBeUndefined();
			expect(servers.flatMap(({ calls }) => calls)).not.toContain("write");
			expect(servers.flatMap((server) => server.events)).toEqual([]);
		});
	}

	test("a member that refuses in the middle: what was written is taken back, as it was", async () => {
		const servers = [
			new BudgetServer("eu", { ...spec, suspend: false }, { ...suspendedByBob, other: "stays" }),
			...named("us", "ap"),
		];
		const [eu, us, ap] = servers;
		if (us) {
			us.onCall = (call) => {
				if (call === "write") throw forbidden;
			};
		}
		const { failures, lines, events } = await run(servers);
		expect(failures).toMatchObject([{ unreachable: false }]);
		expect(lines).toEqual([
			'err: us  error: unable to suspend budget "db": xpoddisruptionbudgets.x-pdb.form3.tech "db" is forbidden',
			'err: eu  budget "db": not suspended: taken back',
			'err: us  budget "db": not suspended: it is not suspended',
			'err: ap  budget "db": not suspended: taken back',
			"err: budget shop/db applies as before: it is not suspended in cluster-eu, cluster-us, cluster-ap",
		]);
		expect(events.some(({ type }) => type === "budget.suspended")).toBe(false);
		expect(statesOf(servers)).toEqual([false, undefined, undefined]);
		expect(eu?.annotations).toEqual({ ...suspendedByBob, other: "stays" });
		expect(ap?.annotations).toEqual({});
		expect(servers.flatMap((server) => server.events)).toEqual([]);
	});

	test("an answer that is lost: what was written is taken back there too", async () => {
		const servers = named("eu", "us");
		const [, us] = servers;
		if (us) {
			us.onWritten = () => {
				us.onWritten = () => undefined;
				throw lost;
			};
		}
		const { failures, lines } = await run(servers);
		expect(failures).toMatchObject([{ unreachable: true }]);
		expect(lines.at(-1)).toBe("err: budget shop/db applies as before: it is not suspended in cluster-eu, cluster-us");
		expect(statesOf(servers)).toEqual([undefined, undefined]);
	});

	test("one whose state nobody knows: it is named, with why the budget holds and the command that helps", async () => {
		const servers = named("eu", "us", "ap");
		const [, us] = servers;
		if (us) {
			us.onWritten = () => {
				us.onCall = () => {
					throw lost;
				};
				throw lost;
			};
		}
		const { failures, lines, undo: offered } = await run(servers);
		expect(failures).toMatchObject([{ unreachable: true }]);
		expect(lines).toContain('err: us  error: budget "db": unknown whether it is suspended: connect ECONNREFUSED');
		expect(lines.at(-1)).toBe(
			"err: error: budget shop/db may still be suspended in cluster-us; it applies in the whole fleet, because it is not suspended in " +
				`cluster-eu, cluster-ap. To have it as before, run: ${undo}`,
		);
		expect(offered).toBe(undo);
		expect(statesOf(servers)).toEqual([undefined, true, undefined]);
	});

	test("taking back overwrites nobody: a heartbeat is passed by, a change of the suspension is left and told", async () => {
		const servers = named("eu", "us", "ap");
		const [eu, us, ap] = servers;
		if (!eu || !us || !ap) throw new Error("three members");
		us.onCall = (call) => {
			if (call === "write") throw forbidden;
		};
		eu.onWritten = () => {
			eu.onWritten = () => undefined;
			eu.edit({ metadata: { annotations: { beat: "1" } } });
		};
		ap.onWritten = () => ap.edit({ metadata: { annotations: suspendedByBob } });
		const { lines } = await run(servers);
		expect(statesOf(servers)).toEqual([undefined, undefined, true]);
		expect(eu.annotations).toEqual({ beat: "1" });
		expect(ap.annotations).toEqual(suspendedByBob);
		expect(lines).toContain('err: ap  error: budget "db": still suspended: another user has suspended it since');
	});
});

describe("unsuspend", () => {
	const suspended = (...names: readonly string[]): readonly BudgetServer[] =>
		names.map((each) => new BudgetServer(each, { ...spec, suspend: true }, suspendedByBob));

	test("takes the suspension and the annotation away in all members", async () => {
		const servers = suspended("eu", "us");
		const { lines } = await run(servers, { command: "unsuspend" });
		expect(lines).toEqual(
			["eu", "us"].map((each) => `out: ${each}  xpoddisruptionbudget.x-pdb.form3.tech/db unsuspended`),
		);
		expect(statesOf(servers)).toEqual([undefined, undefined]);
		for (const { annotations, events } of servers) {
			expect(annotations).toEqual({});
			expect(events).toMatchObject([{ reason: "Unsuspended", type: "Normal" }]);
		}
	});

	test("says of one that is not suspended that it is so already", async () => {
		const { lines } = await run(named("eu"), { command: "unsuspend" });
		expect(lines).toEqual(["out: xpoddisruptionbudget.x-pdb.form3.tech/db already unsuspended"]);
	});

	test("never lets evictions pass again: where a member fails in the middle, the others stay unsuspended", async () => {
		const servers = suspended("eu", "us", "ap");
		const [, us] = servers;
		if (us) {
			us.onCall = (call) => {
				if (call === "write") throw lost;
			};
		}
		const { failures, lines } = await run(servers, { command: "unsuspend" });
		expect(failures).toMatchObject([{ unreachable: true }]);
		expect(lines).toEqual([
			'err: us  error: unable to unsuspend budget "db": connect ECONNREFUSED',
			"err: error: budget shop/db may still be suspended in cluster-us; it applies again in the whole fleet, because it is not suspended in " +
				`cluster-eu, cluster-ap. To finish, run: ${undo}`,
		]);
		expect(statesOf(servers)).toEqual([undefined, true, undefined]);
	});
});
