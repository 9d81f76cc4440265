import { describe, expect, test } from "vitest";
import { AgentForbiddenError, AgentUnavailableError, GarbledLeaseError } from "../../../disruption/errors.ts";
import { type LeaseSource, readLeases } from "../../../plugin/fleet/context-leases.ts";
import { type LeaseChanges, watchLeases } from "../../../plugin/run/watch-leases.ts";
import type { ListedLease } from "../../../proto/listed-lease.ts";
import type { RemoteCluster } from "../../../proto/remote-cluster.ts";
import { leases } from "../../support/samples.ts";

const [held, free] = leases as [ListedLease, ListedLease, ListedLease];
const scopes = [{ namespace: "shop" }];

/** Watches a context whose agents give these answers in turn. Then stops the watch. */
async function watched(answers: readonly (readonly ListedLease[] | Error)[]) {
	const left = [...answers];
	const stop = new AbortController();
	let closed = 0;
	let opened = 0;
	const pauses: number[] = [];
	const member = {
		listLeases: async () => {
			const answer = left.shift();
			if (answer === undefined) throw new Error("nobody asks any more");
			if (answer instanceof Error) throw answer;
			return answer;
		},
	} as unknown as RemoteCluster;
	const source: LeaseSource = {
		kind: "reached",
		context: "eu",
		cluster: "europe",
		clusterId: "id",
		member,
		close: () => void (closed += 1),
	};
	const changes: LeaseChanges[] = [];
	const first = await readLeases(source, scopes, () => 0);
	const watching = watchLeases(source, first, {
		scopes,
		open: async () => {
			opened += 1;
			return source;
		},
		onChanges: (change) => void changes.push(change),
		now: () => 0,
		pause: async (ms) => {
			pauses.push(ms);
			if (left.length === 0) stop.abort();
		},
		stop: stop.signal,
	});
	const error: unknown = await watching.then(
		() => undefined,
		(problem: unknown) => problem,
	);
	const shown = changes.map(({ changed, gone, problem, recovered }) => ({
		changed: changed.map(({ lease }) => lease.name),
		gone: gone.map(({ lease }) => lease.name),
		...(problem !== undefined && { problem }),
		...(recovered !== undefined && { recovered }),
	}));
	return { shown, first, closed, opened, pauses, error };
}

describe("watchLeases()", () => {
	test("tells what changed, and not that time passed", async () => {
		const holding = { holder: "drain-7f", account: "team-a", heldForMs: 2_200, expiresInMs: 7_800 };
		const { shown, closed } = await watched([
			[held, free],
			[{ ...held, holding }, free],
			[{ ...held, waiting: 3 }, free],
			[{ ...held, waiting: 3, holding: { ...holding, expiresInMs: 0 } }, free],
			[{ ...held, waiting: 3, holding: undefined }],
		]);
		expect(shown).toEqual([
			{ changed: [held.name], gone: [] },
			{ changed: [held.name], gone: [] },
			{ changed: [held.name], gone: [free.name] },
		]);
		expect(closed).toBe(1);
	});

	test("names a problem once, says when the agents answer again, and goes on from what it knew", async () => {
		const silent = new AgentUnavailableError("no answer", "eu");
		const { shown } = await watched([[held], silent, silent, [held], [held, free], silent]);
		expect(shown).toEqual([
			{ changed: [], gone: [], problem: "eu: no answer" },
			{ changed: [], gone: [], recovered: "eu" },
			{ changed: [free.name], gone: [] },
			{ changed: [], gone: [], problem: "eu: no answer" },
		]);
	});

	test("does not tell again what the first answer has told", async () => {
		const forbidden = new AgentForbiddenError("may not acquire");
		const { shown, first } = await watched([forbidden, forbidden, [held]]);
		expect(first).toMatchObject({ kind: "failed", problem: "may not acquire", unreachable: false });
		expect(shown).toEqual([{ changed: [held.name], gone: [], recovered: "eu" }]);
	});

	test("closes its source where the agents answer what it cannot read", async () => {
		const garbled = new GarbledLeaseError("the state is not JSON");
		const { closed, error } = await watched([[held], garbled]);
		expect(error).toBe(garbled);
		expect(closed).toBe(1);
	});
});

describe("readLeases()", () => {
	test("lets a context without agents and one that cannot be reached be what they are", async () => {
		expect(await readLeases({ kind: "none", context: "eu" }, scopes, () => 0)).toEqual({ kind: "none", context: "eu" });
		const failed = { kind: "failed", context: "eu", problem: "no agent is ready" } as const;
		expect(await readLeases(failed, scopes, () => 0)).toEqual({ ...failed, unreachable: true });
	});
});
