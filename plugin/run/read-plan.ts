// Plans a drain in one or more contexts. It continues without contexts that do not answer, but never without a member of the fleet, because
// the budgets' counts need all of them.
import type { DrainOptions } from "../drain/drain.ts";
import { connectFleet, throughOthersWarning } from "../fleet/connect-fleet.ts";
import { kubectlErrorLine } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { LostContext } from "../nodes/find-in-contexts.ts";
import { resolveNodes } from "../nodes/node-targets.ts";
import { makePlan } from "../plan/make-plan.ts";
import type { Plan } from "../plan/plan.ts";
import { readFacts } from "../plan/read-facts.ts";
import { FleetUncoveredError } from "../terminal/errors.ts";
import { exitCode } from "../terminal/exit.ts";
import { closeConnection, connectWhileFinding } from "./connect-while-finding.ts";

export interface PlanRequest {
	readonly words: readonly string[];
	/** "" if there is none. */
	readonly selector: string;
	readonly options: DrainOptions;
}

/** If nodes may be missing from a plan that is otherwise possible, its exit code is failedClosed. Tests replace `connect`. */
export async function readPlan(
	contexts: readonly KubeContext[],
	{ words, selector, options }: PlanRequest,
	connect: typeof connectFleet = connectFleet,
): Promise<Plan> {
	const { targets, lost, connecting } = await connectWhileFinding(
		contexts,
		async () => {
			const { nodes, lost: silent } = await resolveNodes(contexts, words, selector, options);
			return { targets: nodes, lost: silent };
		},
		(those, mayLose) => ({ connection: connect(those, { mayLose }).catch(explainUncovered) }),
	);
	try {
		const now = Date.now();
		const { connection } = connecting;
		const made = makePlan(await readFacts(targets, connection, { ...options, now }), { ...options, now });
		const { lost: unreached = [] } = await connection;
		const warnings = [
			...lost.map(lostWarning),
			...unreached.map(({ context, problem }) => `${context.name}: ${throughOthersWarning(problem)}`),
			...made.warnings,
		];
		return { ...made, warnings, exitCode: made.possible && lost.length > 0 ? exitCode.failedClosed : made.exitCode };
	} finally {
		await closeConnection(connecting);
	}
}

function lostWarning({ error, named }: LostContext): string {
	const [first, ...more] = named;
	const what =
		first === undefined ? "its nodes are" : more.length === 0 ? `node ${first} is` : `nodes ${named.join(", ")} are`;
	return `${what} not in this plan: ${kubectlErrorLine(error)}`;
}

function explainUncovered(error: unknown): never {
	if (!(error instanceof FleetUncoveredError)) throw error;
	const why = "without the counts of every member of the fleet, no plan can say what the budgets allow";
	throw new FleetUncoveredError(error.message, [...error.details, why], { cause: error });
}
