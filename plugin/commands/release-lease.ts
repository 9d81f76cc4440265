// Implements `kubectl xpdb leases release`: releases a stuck run's hold on a budget.
//
// Guarantee: it ends only the hold that it names, by the Lease's uid and transitions, and no reservation. The holder's commit then finds
// that its acquisition no longer stands. Pods that were granted stay counted until there is evidence about them, or until the agents cancel
// their reservations by the fence (agent/leases/local-cluster.ts).
import { type BudgetName, formatBudgetName } from "../../disruption/budget/budget.ts";
import type { ListedLease } from "../../proto/listed-lease.ts";
import { budgetWord } from "../flags/budget-word.ts";
import { type CommandRunner, textFlag } from "../flags/command.ts";
import { formatElapsed } from "../flags/duration.ts";
import { budgetEvent } from "../fleet/budget-event.ts";
import { writePersonEvent } from "../fleet/person-event.ts";
import { agentProblem, type LeaseSource, openLeaseSource, readLeases } from "../fleet/context-leases.ts";
import { userAtHost } from "../fleet/holder-identity.ts";
import { refuseUnknownBudget } from "../fleet/refuse-unknown-budget.ts";
import { findBudget } from "../fleet/suspension-target.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { accountText } from "../output/budget-lines.ts";
import { withContexts } from "../run/with-contexts.ts";
import { confirmName } from "../terminal/confirm-name.ts";
import { refuseSameCluster } from "../kubernetes/same-cluster.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";

type Reached = Extract<LeaseSource, { kind: "reached" }>;

interface Held {
	readonly context: KubeContext;
	readonly source: Reached;
	readonly name: BudgetName;
	readonly lease: ListedLease & { readonly holding: NonNullable<ListedLease["holding"]> };
}

export const runReleaseLease: CommandRunner = async (input, deps) => {
	const { streams } = deps;
	const budget = budgetWord("leases release", input.words);
	return withContexts(input, deps, async (contexts) => {
		const sources = await Promise.all(contexts.map(openLeaseSource));
		try {
			refuseSameCluster(sources.flatMap((each) => (each.kind === "reached" ? [[each.context, each.clusterId]] : [])));
			const problems: Problem[] = [];
			const found = await Promise.all(
				contexts.map(async (context, index) => findHeld(context, sources[index], budget, problems)),
			);
			const held = found.flat();
			if (held.length > 0) {
				const isConfirmed = await confirmName(
					{
						name: budget,
						given: textFlag(input, "confirm"),
						flag: `--confirm=${budget}`,
						summary: held.map(summaryOf),
						signal: deps.interrupts.stop,
					},
					streams,
				);
				if (!isConfirmed) {
					streams.stderr.write("Nothing was touched.\n");
					return exitCode.error;
				}
				for (const line of await Promise.all(held.map(async (each) => release(each, problems)))) {
					if (line !== undefined) streams.stdout.write(`${line}\n`);
				}
			} else if (problems.length === 0) {
				await refuseUnknownBudget(contexts, budget);
				streams.stderr.write(`No run holds a Lease of budget ${budget}: there is nothing to release\n`);
			}
			for (const { text } of problems) streams.stderr.write(`error: ${text}\n`);
			return exitCodeOf(problems);
		} finally {
			for (const source of sources) if (source.kind === "reached") source.close();
		}
	});
};

interface Problem {
	readonly text: string;
	readonly unreachable: boolean;
}

function exitCodeOf(problems: readonly Problem[]): ExitCode {
	if (problems.length === 0) return exitCode.done;
	return problems.some(({ unreachable }) => unreachable) ? exitCode.failedClosed : exitCode.error;
}

/** Returns the budget's Leases in this context that have a holder. Adds what it cannot read to `problems`. */
async function findHeld(
	context: KubeContext,
	source: LeaseSource | undefined,
	budget: string,
	problems: Problem[],
): Promise<readonly Held[]> {
	if (!source || source.kind === "none") return [];
	const name = { namespace: context.namespace, name: budget };
	const found = await readLeases(source, [name], () => Date.now());
	if (found.kind === "failed") {
		problems.push({ text: `${context.name}: ${found.problem}`, unreachable: found.unreachable });
		return [];
	}
	if (found.kind === "none" || source.kind !== "reached") return [];
	return found.leases.flatMap((lease): readonly Held[] => {
		const { problem, holding } = lease;
		if (problem !== undefined) problems.push({ text: `${context.name}: ${problem}`, unreachable: false });
		return holding ? [{ context, source, name, lease: { ...lease, holding } }] : [];
	});
}

function summaryOf({ context, name, lease: { holding, transitions, reserved } }: Held): string {
	const account =
		holding.account === undefined ? "of an account that the agents do not know" : `of ${accountText(holding.account)}`;
	const granted = reserved === 0 ? "" : `; its ${reserved} granted pods stay counted`;
	return (
		`${context.name}: the Lease of budget ${formatBudgetName(name)} is held by ${holding.holder} (as claimed), ${account}, ` +
		`for ${formatElapsed(holding.heldForMs)}, fence ${transitions}: that round ends without an eviction${granted}`
	);
}

/**
 * Releases the hold, and says what was done, if anything. Releases nothing if a dry run of the Event about it fails. If only the real write
 * fails, the release stands and the failure is added to `problems`.
 */
async function release({ context, source, name, lease }: Held, problems: Problem[]): Promise<string | undefined> {
	const { holding, uid: leaseUid, transitions } = lease;
	const budget = formatBudgetName(name);
	const by = userAtHost();
	const found = await findBudget(context, name).catch((error: unknown) => {
		if (!(error instanceof Error)) throw error;
		return undefined;
	});
	const event = budgetEvent({
		name,
		uid: found?.uid ?? "",
		at: Date.now(),
		by,
		action: "Release",
		reason: "LeaseReleased",
		type: "Warning",
		note: `the Lease of budget ${budget} in ${source.cluster}, which ${holding.holder} held (fence ${transitions}), was released by ${by}`,
	});
	const untold = await writePersonEvent(context, name.namespace, event, { rehearse: true });
	if (untold !== undefined) {
		const text = `${context.name}: nothing was released, because the Event that tells of it could not be written: ${untold}`;
		problems.push({ text, unreachable: false });
		return undefined;
	}
	try {
		if (!(await source.member.endHolding({ budget: name, leaseUid, transitions }))) {
			return `Lease of budget ${budget} in ${context.name}: that holding had ended already`;
		}
	} catch (error) {
		const { problem, unreachable } = agentProblem(error);
		problems.push({ text: `${context.name}: ${problem}`, unreachable });
		return undefined;
	}
	const problem = await writePersonEvent(context, name.namespace, event, { rehearse: false });
	if (problem !== undefined) {
		problems.push({ text: `${context.name}: the Event could not be written: ${problem}`, unreachable: false });
	}
	return `Lease of budget ${budget} in ${context.name} released, which ${holding.holder} held`;
}
