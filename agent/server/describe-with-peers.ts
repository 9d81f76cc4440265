// Describes this agent to a caller and, on request, adds the other members' descriptions and budgets. A run then starts with one call
// instead of two for each member.
//
// Guarantee: what is reported of another member is its own agent's answer to a question that was sent after this call came. Members that
// fail or are slow are left out, and so are budgets that cannot be listed or are too many. The caller must request what is left out
// separately.
import type { AgentCluster, AgentDescription, Introduction } from "../../proto/agent-cluster.ts";
import type { Clock } from "../process/clock.ts";
import { withinTime } from "../process/within-time.ts";

/** If a member takes longer, the caller asks it directly, waits up to 5 s and gets the reason. */
export const othersWithinMs = 1_000;

/**
 * In characters of JSON, for the specs of one member's budgets: several hundred budgets. Fifty members then send 3 MB of the 16 MB that the
 * plugin accepts.
 */
export const maxSpecLength = 64 * 1024;

interface DescribeOptions {
	readonly budgetsOf: readonly string[] | undefined;
	readonly others: Promise<readonly Promise<AgentCluster>[]>;
	readonly clock: Pick<Clock, "after">;
}

export async function describeWithPeers(
	cluster: AgentCluster,
	{ budgetsOf, others, clock }: DescribeOptions,
): Promise<Introduction> {
	const [own, answers] = await Promise.all([
		cluster.describe(budgetsOf),
		others.then(
			(members) => Promise.all(members.map((member) => describedInTime(member, { budgetsOf, clock }))),
			() => [],
		),
	]);
	const said = answers.flatMap((answer) => (answer ? [withinBounds(answer)] : []));
	return { ...withinBounds(own), ...(said.length > 0 && { others: said }) };
}

/** Returns undefined if the member fails or is slow. */
async function describedInTime(
	member: Promise<AgentCluster>,
	{ budgetsOf, clock }: Pick<DescribeOptions, "budgetsOf" | "clock">,
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
