// What an agent says to whoever meets it: of itself, and where it is asked to, what the other members say and which budgets each has.
// A run that begins puts one question so, where it had one for each member and another for the budgets of each.
//
// Guarantee: nothing is made up and nothing is said by being left out. What another member says is its own agent's answer to a
// question that was put after this one came; who is slow, and budgets that cannot be had or are many, are left out, and have to be
// asked for by themselves.
import type { AgentCluster, AgentDescription, Introduction } from "../../proto/agent-cluster.ts";
import type { Clock } from "../process/clock.ts";
import { withinTime } from "../process/within-time.ts";

/** Ten round trips to the other side of the world. Whoever takes longer is asked by the caller, who waits for 5 s and hears why. */
export const othersWithinMs = 1_000;

/** Of the specs that one member's budgets may have here: some hundred budgets. Fifty members then have 3 MB, of the 16 that are taken. */
export const maxSpecLength = 64 * 1024;

interface IntroductionOptions {
	readonly budgetsOf: readonly string[] | undefined;
	/** Those that are asked too. */
	readonly others: Promise<readonly Promise<AgentCluster>[]>;
	readonly clock: Pick<Clock, "after">;
}

export async function introduce(
	cluster: AgentCluster,
	{ budgetsOf, others, clock }: IntroductionOptions,
): Promise<Introduction> {
	const [own, answers] = await Promise.all([
		cluster.describe(budgetsOf),
		others.then(
			(members) => Promise.all(members.map((member) => saidSoon(member, { budgetsOf, clock }))),
			() => [],
		),
	]);
	const said = answers.flatMap((answer) => (answer ? [withinBounds(answer)] : []));
	return { ...withinBounds(own), ...(said.length > 0 && { others: said }) };
}

/** Undefined for one that fails or is slow. */
async function saidSoon(
	member: Promise<AgentCluster>,
	{ budgetsOf, clock }: Pick<IntroductionOptions, "budgetsOf" | "clock">,
): Promise<AgentDescription | undefined> {
	const said = member.then((each) => each.describe(budgetsOf));
	const late = (): Error => new Error("it is asked by the caller");
	return withinTime(said, { clock, ms: othersWithinMs, late }).catch(() => undefined);
}

function withinBounds(description: AgentDescription): AgentDescription {
	const { budgets, ...rest } = description;
	if (!budgets) return rest;
	const length = budgets.budgets.reduce((sum, { spec }) => sum + JSON.stringify(spec ?? null).length, 0);
	return length > maxSpecLength ? rest : description;
}
