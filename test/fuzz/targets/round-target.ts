// A target that demands a refusal: clusters in which the pod must not go, and in which one API server garbles one kind of answer.
// Everything between these answers and the verdict is real code.
import fc from "fast-check";
import {
	AgentProtocolError,
	AgentUnavailableError,
	GarbledLeaseError,
	InvalidBudgetError,
	LeaseLostError,
} from "../../../disruption/errors.ts";
import { newController, newReservation } from "../../support/build-lease.ts";
import { demandClear, demandClearText } from "../clear-error.ts";
import { asyncTarget, demand, Finding, type FuzzTarget } from "../fuzz-target.ts";
import {
	type Garble,
	type ObjectKind,
	otherLease,
	runGarbledRound,
	threePods,
	type WorldState,
} from "../garbled-world.ts";
import { jsonOf, packed, read, slotsOf, unpacked, write } from "../json-edits.ts";
import { garbageFor, type Json } from "../odd-values.ts";
import { leaseObject, podObject } from "../seed-objects.ts";

const selector = { matchLabels: { app: "db" } };
const atMostOne: Json = { selector, maxUnavailable: 1 };
const oneDown = [podObject("db-0"), podObject("db-1", { ready: false }), podObject("db-2")];
const reserved = {
	phase: "released",
	observed: "100",
	reservations: [newReservation("db-1")],
	controllers: [newController("db")],
} as const;
const idle = { pods: [], budgetSpec: atMostOne, replicas: 0 };

/** In each of these, the candidate must not go, for a different reason. */
const worlds: Readonly<Record<string, WorldState>> = {
	"one is down": worldOf({ pods: oneDown, budgetSpec: atMostOne }),
	"one is reserved": worldOf({ pods: threePods, budgetSpec: atMostOne, leases: [leaseObject({ state: reserved })] }),
	"one is reserved under another budget": worldOf({
		pods: threePods,
		budgetSpec: atMostOne,
		leases: [otherLease({ state: reserved })],
	}),
	"one is missing": worldOf({ pods: threePods.slice(0, 2), budgetSpec: atMostOne }),
	"all are needed": worldOf({ pods: threePods, budgetSpec: { selector, minAvailable: "100%" } }),
	"one is reserved elsewhere": {
		clusters: [
			{ pods: threePods, budgetSpec: atMostOne },
			{ ...idle, leases: [leaseObject({ state: reserved })], pods: [podObject("db-1")], replicas: 1 },
		],
		candidate: "db-0",
		listsBudgets: false,
	},
	"the other cluster's budget is stricter": {
		clusters: [
			{ pods: oneDown, budgetSpec: { selector, maxUnavailable: 3 } },
			{ ...idle, pods: [podObject("db-7")], replicas: 1 },
		],
		candidate: "db-0",
		listsBudgets: false,
	},
	"the view has not seen it": worldOf({ pods: threePods, hidden: [podObject("db-9")], budgetSpec: atMostOne }, "db-9"),
};

function worldOf(first: WorldState["clusters"][number], candidate = "db-0"): WorldState {
	return { clusters: [first, idle], candidate, listsBudgets: false };
}

/** In this one, the pod may go. Without a garbled answer it must be granted, or the refusals above would prove nothing. */
const roomy = worldOf({ pods: threePods, budgetSpec: atMostOne });

interface Garbling {
	readonly kind: ObjectKind;
	readonly cluster: number;
	readonly at: number;
	readonly which: number;
	readonly how: "place" | "remove" | "body" | "status" | "text";
}

const garbling: fc.Arbitrary<Garbling> = fc.record({
	kind: fc.constantFrom<ObjectKind[]>(
		"pods",
		"pod",
		"fleet",
		"lease",
		"leases",
		"budget",
		"budgets",
		"scale",
		"workloads",
	),
	cluster: fc.nat(1),
	at: fc.nat(9_999),
	which: fc.nat(9_999),
	how: fc.constantFrom("place", "place", "place", "place", "remove", "remove", "body", "status", "text"),
});

function garbleBy({ at, which, how }: Garbling): Garble {
	return (answer) => {
		switch (how) {
			case "body":
				return { ...answer, body: pick(garbageFor({}), which) };
			case "status":
				return { ...answer, status: pick([400, 401, 403, 404, 409, 410, 429, 500, 503, 999], which) };
			case "text": {
				const text = jsonOf(answer.body as Json);
				return { ...answer, body: text.slice(0, at % text.length) };
			}
			case "place":
			case "remove":
				return { ...answer, body: garbledPlace(answer.body, at, how === "remove" ? undefined : which) };
		}
	};
}

/** Puts garbage into one place, or removes it. Garbage is never a value that could be meant. */
function garbledPlace(body: unknown, at: number, which: number | undefined): Json {
	const root = { value: unpacked(body) };
	const slots = slotsOf(root).filter(
		({ holder }) => which !== undefined || (!Array.isArray(holder) && holder !== root),
	);
	const slot = slots[at % slots.length];
	if (!slot) return null;
	if (which !== undefined) write(slot, pick(garbageFor(packed(read(slot))), which));
	else if (!Array.isArray(slot.holder)) delete slot.holder[slot.key];
	return packed(root.value);
}

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

/** Returns the verdict's kind and reason, or why there is no verdict. */
async function verdictOf(world: WorldState, garble?: Garbling): Promise<string> {
	const change = garble && garbleBy(garble);
	const change0 = (cluster: number, kind: ObjectKind) =>
		garble && cluster === garble.cluster && kind === garble.kind ? change : undefined;
	const before = world.clusters.reduce((sum, { leases = [] }) => sum + leases.length, 0);
	let run: Awaited<ReturnType<typeof runGarbledRound>>;
	try {
		run = await runGarbledRound(world, change0);
	} catch (error) {
		const classes = [AgentUnavailableError, AgentProtocolError, GarbledLeaseError, InvalidBudgetError, LeaseLostError];
		const { message } = demandClear(error, classes, /eu-1|us-1/);
		return `no answer: ${message}`;
	}
	const {
		verdicts: [verdict],
		reservations,
	} = run;
	if (!verdict) throw new Finding("It gave no verdict");
	if (verdict.kind === "granted" || verdict.kind === "free") return verdict.kind;
	demandClearText(verdict.message);
	demand(reservations === before, `There were ${before} reservations, and are ${reservations}`);
	return `${verdict.kind} ${verdict.reason}`;
}

export const roundTarget: FuzzTarget = {
	name: "round",
	reads: "one garbled answer of an API server, in clusters where the pod must stay",
	share: 0.5,
	open: async () => {
		const room = await verdictOf(roomy);
		if (room !== "granted") throw new Error(`The pod that may go is ${room}`);
		for (const [name, world] of Object.entries(worlds)) {
			for (const listsBudgets of [true, false]) {
				const verdict = await verdictOf({ ...world, listsBudgets });
				if (!verdict.startsWith("waiting")) throw new Error(`Where ${name} the pod is ${verdict}`);
			}
		}
		const input = fc.record({
			world: fc.constantFrom(...Object.keys(worlds)),
			listsBudgets: fc.boolean(),
			garbling,
		});
		return asyncTarget(input, async ({ world: name, listsBudgets, garbling: garble }) => {
			const world = worlds[name];
			if (!world) return;
			const verdict = await verdictOf({ ...world, listsBudgets }, garble);
			demand(verdict !== "granted" && verdict !== "free", `ALLOWED: it is ${verdict}, where ${name}`);
		});
	},
};
