import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import type { KnownMember } from "../../../agent/cluster-api/known-members-lease.ts";
import { Greetings, type GreetingsOptions, type GreetingTarget } from "../../../agent/peers/greetings.ts";
import { PeriodicWork } from "../../../agent/process/periodic-work.ts";
import { AgentProtocolError, AgentUnavailableError } from "../../../disruption/errors.ts";
import type { DeclaredFleet } from "../../../disruption/budget/fleet.ts";
import type { AgentDescription } from "../../../proto/agent-cluster.ts";
import type { Greeting, GreetingReply } from "../../../proto/greet.ts";
import { greetEveryMs, greetingRoundMs, mostGreeted } from "../../../proto/greeting-round.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const eu = (id: string, address?: string) => ({
	id: `id-${id}`,
	name: `eu-${id}`,
	...(address !== undefined && { address }),
});
const listed: GreetingReply = { memberIds: ["id-1"], listed: true, forgotten: false };

function greetingsOf(
	fleet: Partial<DeclaredFleet>,
	{
		known = [],
		judged = () => undefined,
		...more
	}: Partial<Omit<GreetingsOptions, "known">> & {
		readonly known?: readonly KnownMember[];
		readonly judged?: () => void;
	} = {},
) {
	const clock = createManualClock();
	const greeted: { readonly target: GreetingTarget; readonly greeting: Greeting }[] = [];
	const learned: unknown[] = [];
	const problems: unknown[] = [];
	const outcomes: string[] = [];
	const greetings = new Greetings({
		local: eu("1"),
		known: {
			known,
			learn: async (members) => void learned.push(...members),
			judge: async () => {
				judged();
				return { fleet: { members: [eu("1", "h:1")], forgotten: [], ...fleet }, missing: [] };
			},
		},
		greet: async (target, greeting) => {
			greeted.push({ target, greeting });
			return listed;
		},
		keep: () => undefined,
		clock,
		random: () => 0,
		onGreeted: (outcome) => void outcomes.push(outcome),
		report: (problem) => void problems.push(problem),
		...more,
	});
	return { greetings, clock, greeted, learned, problems, outcomes };
}

const settled = () => new Promise<void>(setImmediate);

describe("heard()", () => {
	test("has whoever answered or greeted, and how long ago, and nobody who did neither", async () => {
		const members = [eu("1"), eu("2", "h:2"), eu("3", "h:3"), eu("4")];
		const gone = new AgentUnavailableError("no answer from eu-3", "eu-3");
		const { greetings, clock } = greetingsOf(
			{ members },
			{ greet: async ({ id }) => (id === "id-3" ? Promise.reject(gone) : listed) },
		);
		expect(greetings.heard()).toEqual([]);
		await greetings.greetAll();
		clock.advance(1_000);
		await greetings.receive({ ...eu("4"), memberIds: [] });
		await greetings.receive({ ...eu("1"), memberIds: [] });
		clock.advance(500);
		expect(greetings.heard()).toEqual([
			{ id: "id-2", agoMs: 1_500 },
			{ id: "id-4", agoMs: 500 },
		]);
	});
});

describe("greetAll()", () => {
	test("greets every other member at its address, with the ids of the fleet, once these are known", async () => {
		const members = [eu("1", "h:1"), eu("2", "h:2"), eu("3")];
		const order: string[] = [];
		const { greetings, greeted } = greetingsOf({ members }, { judged: () => void order.push("judged") });
		await greetings.greetAll();
		expect(greeted).toEqual([
			{ target: eu("2", "h:2"), greeting: { ...eu("1"), memberIds: ["id-1", "id-2", "id-3"] } },
		]);
		expect(order).toEqual(["judged"]);
	});

	test("greets whom the list leaves out, where it was last listed, and nobody who is forgotten", async () => {
		const known = [2, 3, 4].map((id) => ({ ...eu(`${id}`, `h:${id}`), since: 1 }));
		const { greetings, greeted } = greetingsOf(
			{ members: [eu("1", "h:1"), eu("4", "new:4")], forgotten: [{ id: "id-3" }] },
			{ known },
		);
		await greetings.greetAll();
		expect(greeted.map(({ target }) => target.address).toSorted()).toEqual(["h:2", "new:4"]);
	});

	test("tells once what is wrong with a member, and again after it was well", async () => {
		const replies: (GreetingReply | Error)[] = [];
		const gone = new AgentUnavailableError("no answer from eu-2", "eu-2");
		const { greetings, problems, outcomes } = greetingsOf(
			{ members: [eu("1"), eu("2", "h:2")] },
			{
				greet: async () => {
					const reply = replies.shift() ?? listed;
					if (reply instanceof Error) throw reply;
					return reply;
				},
			},
		);
		replies.push(gone, gone, listed, gone, { ...listed, listed: false }, { ...listed, listed: false, forgotten: true });
		for (let pass = 0; pass < 6; pass += 1) await greetings.greetAll();
		expect(problems.map(String)).toEqual([
			"AgentUnavailableError: no answer from eu-2",
			"AgentUnavailableError: no answer from eu-2",
			expect.stringMatching(/^FleetsDifferError: Cluster "eu-2" \(id id-2\) does not list cluster "eu-1"/),
			expect.stringMatching(/^FleetsDifferError: Cluster "eu-2" \(id id-2\) has forgotten cluster "eu-1"/),
		]);
		expect(outcomes).toEqual(["failed", "failed", "answered", "failed", "answered", "answered"]);
	});

	test("takes an agent that does not know greetings for an older one", async () => {
		const cause = Object.assign(new Error("no such method"), { code: status.UNIMPLEMENTED });
		const { greetings, problems, outcomes } = greetingsOf(
			{ members: [eu("1"), eu("2", "h:2")] },
			{ greet: () => Promise.reject(new AgentProtocolError("no such method", { cause })) },
		);
		await greetings.greetAll();
		expect([problems, outcomes]).toEqual([[], ["unimplemented"]]);
	});

	test("is not held up by those that do not answer", async () => {
		const members = [eu("1"), ...Array.from({ length: 30 }, (_, index) => eu(`n${index}`, `h:${index}`))];
		let open = 0;
		let most = 0;
		const { greetings } = greetingsOf(
			{ members },
			{
				greet: async () => {
					open += 1;
					most = Math.max(most, open);
					await settled();
					open -= 1;
					return listed;
				},
			},
		);
		await greetings.greetAll();
		expect(most).toBe(12);
	});
});

describe("greetAll() in a large fleet", () => {
	const members = Array.from({ length: 30 }, (_, index) => eu(`${index + 1}`, `h:${index + 1}`));

	test("greets all members when it starts, and then a few at a time, each once in a round", async () => {
		const { greetings, greeted, clock } = greetingsOf({ members });
		await greetings.greetAll();
		expect(greeted).toHaveLength(29);
		greeted.length = 0;
		const passes = greetingRoundMs(29) / greetEveryMs;
		expect(passes).toBe(5);
		for (let pass = 1; pass <= passes; pass += 1) {
			clock.advance(greetEveryMs);
			await greetings.greetAll();
			expect(greeted).toHaveLength(pass * mostGreeted);
		}
		expect(new Set(greeted.map(({ target }) => target.id)).size).toBe(29);
		expect(greetingRoundMs(mostGreeted)).toBe(greetEveryMs);
	});

	test("greets a new member next", async () => {
		const fleet = { members: members.slice(0, 29) };
		const { greetings, greeted } = greetingsOf(fleet);
		await greetings.greetAll();
		greeted.length = 0;
		fleet.members.push(eu("30", "h:30"));
		await greetings.greetAll();
		expect(greeted[0]?.target.id).toBe("id-30");
	});
});

describe("greetAll() beside an agent of the same cluster that greets", () => {
	const members = [eu("1"), eu("2", "h:2"), eu("3", "h:3")];

	test("greets no other cluster, and learns whom that agent has heard", async () => {
		const describe = async () => ({ heard: [{ id: "id-2", agoMs: 4_000 }] }) as unknown as AgentDescription;
		const { greetings, greeted, clock } = greetingsOf({ members }, { greeter: () => ({ describe }) });
		await greetings.receive({ ...eu("3"), memberIds: [] });
		clock.advance(1_000);
		await greetings.greetAll();
		expect(greeted).toEqual([]);
		expect(greetings.heard()).toEqual([
			{ id: "id-3", agoMs: 1_000 },
			{ id: "id-2", agoMs: 4_000 },
		]);
	});

	test("keeps the later of two times", async () => {
		const describe = async () => ({ heard: [{ id: "id-2", agoMs: 4_000 }] }) as unknown as AgentDescription;
		const { greetings } = greetingsOf({ members }, { greeter: () => ({ describe }) });
		await greetings.receive({ ...eu("2"), memberIds: [] });
		await greetings.greetAll();
		expect(greetings.heard()).toEqual([{ id: "id-2", agoMs: 0 }]);
	});

	test("greets itself if that agent does not answer", async () => {
		const gone = () => Promise.reject(new AgentUnavailableError("no answer", "eu-1"));
		const { greetings, greeted } = greetingsOf({ members }, { greeter: () => ({ describe: gone }) });
		await greetings.greetAll();
		expect(greeted.map(({ target }) => target.id)).toEqual(["id-2", "id-3"]);
	});
});

describe("job", () => {
	test("greets at once and every 30 s, also after a pass that failed, until it is closed", async () => {
		let reads = 0;
		const { greetings, clock, problems } = greetingsOf(
			{},
			{
				judged: () => {
					reads += 1;
					throw new AgentUnavailableError("no fleet", "eu-1");
				},
			},
		);
		const report = (problem: unknown) => void problems.push(problem);
		const periodic = new PeriodicWork({ clock, report });
		periodic.begin(greetings.job);
		await settled();
		expect([reads, problems.length]).toEqual([1, 1]);
		clock.advance(greetEveryMs);
		await settled();
		expect(reads).toBe(2);
		periodic.close();
		clock.advance(10 * greetEveryMs);
		await settled();
		expect(reads).toBe(2);
	});
});

describe("receive()", () => {
	test("makes whoever greets known, and nobody whom it names", async () => {
		const { greetings, learned } = greetingsOf({ forgotten: [{ id: "id-3" }] });
		expect(await greetings.receive({ id: "id-2", name: "eu-2", memberIds: ["id-1", "id-7"] })).toEqual({
			memberIds: ["id-1"],
			listed: false,
			forgotten: false,
		});
		expect((await greetings.receive({ id: "id-3", name: "", memberIds: [] })).forgotten).toBe(true);
		expect((await greetings.receive({ id: "id-1", name: "eu-1", memberIds: [] })).listed).toBe(true);
		expect(learned).toEqual([
			{ id: "id-2", name: "eu-2" },
			{ id: "id-3", name: "id-3" },
		]);
	});

	for (const name of ["\u001b[2J", "a\nb", "\u202egro", "x".repeat(64), " ", "\ud800"]) {
		test(`takes no name like ${JSON.stringify(name.slice(0, 8))}`, async () => {
			const { greetings, learned } = greetingsOf({});
			await greetings.receive({ id: "id-2", name, memberIds: [] });
			expect(learned).toEqual([{ id: "id-2", name: "id-2" }]);
		});
	}
});
