// Implements `kubectl xpdb fleet forget`: removes a member from the fleet, in every cluster of the contexts that can be reached.
import { booleanFlag, type CommandRunner, textFlag } from "../flags/command.ts";
import { parseDryRun } from "../flags/dry-run.ts";
import { connectFleet } from "../fleet/connect-fleet.ts";
import { userAtHost } from "../fleet/holder-identity.ts";
import { type ContextProblem, forgetMember, readMemberLists } from "../install/forget-member.ts";
import { type ForgetPlan, planForgetting } from "../install/forget-plan.ts";
import { type HeardLately, heardLately } from "../install/heard-lately.ts";
import { warnOfKeyThatLeaves } from "../install/key-keeper.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { refuseSameCluster } from "../kubernetes/same-cluster.ts";
import { unlessOver } from "../kubernetes/unless-over.ts";
import { dryRunSuffix } from "../output/dry-run-suffix.ts";
import { closeConnection } from "../run/connect-while-finding.ts";
import { withContexts } from "../run/with-contexts.ts";
import { confirmName } from "../terminal/confirm-name.ts";
import { FleetUncoveredError, UsageError } from "../terminal/errors.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";

export const runForgetMember: CommandRunner = async (input, deps) => {
	const { streams, interrupts } = deps;
	const [word = "", ...more] = input.words;
	if (word === "" || more.length > 0) {
		throw new UsageError("USAGE: fleet forget MEMBER [flags]", "See 'kubectl xpdb fleet forget --help' for usage.");
	}
	const dryRun = parseDryRun(textFlag(input, "dry-run"), streams.stderr);
	return withContexts(input, deps, async (contexts) => {
		const { lists, silent } = await readMemberLists(contexts);
		refuseSameCluster(lists.map(({ context, clusterId }) => [context.name, clusterId]));
		const warn = (text: string): void => streams.stderr.write(`Warning: ${text}\n`);
		for (const { context, message } of silent) warn(`${context}: its list stays as it is: ${message}`);
		if (lists.length === 0) throw new UsageError("no cluster was reached whose list could change: nothing was touched");
		const heard = await heardLately(lists.map(({ context }) => context));
		const plan = planForgetting(lists, word, heard.missed);
		const key = await warnOfKeyThatLeaves(
			lists.map(({ context }) => context),
			plan.member.name,
		);
		for (const text of [...warningsOf(plan, heard), ...key.before]) warn(text);
		if (plan.todo.length > 0 && !(await isAgreed(plan, dryRun))) return exitCode.error;
		if (dryRun === "client") {
			for (const { context } of plan.todo) tellForgotten(context);
			return exitCode.done;
		}
		const options = { by: userAtHost(), now: () => Date.now() };
		const refused = await forgetMember(plan, { ...options, rehearse: true, onForgotten: () => undefined });
		if (refused.length > 0) return fail(refused, "Nothing was touched.");
		if (dryRun === "server") {
			for (const { context } of plan.todo) tellForgotten(context);
			return exitCode.done;
		}
		// An interruption does not end the writes: while lists differ, nothing is evicted in the whole fleet.
		interrupts.graceful();
		const problems = await forgetMember(plan, {
			...options,
			rehearse: false,
			onForgotten: ({ context }) => tellForgotten(context),
		});
		for (const { context } of plan.done)
			streams.stdout.write(`${context.name}: has forgotten ${plan.member.name} already\n`);
		if (problems.length > 0) {
			const failed = fail(problems, "Run this again: lists that say it already stay as they are.");
			return interrupts.stoppedBy ?? failed;
		}
		const code = await tellSurvivors(
			plan,
			contexts.filter(({ name }) => lists.some(({ context }) => context.name === name)),
		);
		for (const line of key.after) streams.stdout.write(`${line}\n`);
		return code;

		function tellForgotten({ name }: KubeContext): void {
			const left = plan.survivors.map((each) => each.name).join(", ");
			streams.stdout.write(`${name}: ${plan.member.name} forgotten, the members are ${left}${dryRunSuffix(dryRun)}\n`);
		}
	});

	async function isAgreed({ member, todo, survivors }: ForgetPlan, dryRun: string): Promise<boolean> {
		if (dryRun !== "none") return true;
		const given = booleanFlag(input, "yes") ? member.name : textFlag(input, "confirm");
		const summary = [
			`Forget member ${member.name} (id ${member.id}) in ${todo.map(({ context }) => context.name).join(", ")}:`,
			`  its pods no longer count: budgets are judged in ${survivors.map(({ name }) => name).join(", ")} alone`,
			"  these clusters refuse its agents, until every cluster lists it again",
			"  make sure no drain runs there any more: kubectl there checks no budget of the fleet",
		];
		const { name } = member;
		const isConfirmed = await confirmName(
			{ name, given, flag: `--confirm=${name}`, summary, signal: interrupts.stop },
			streams,
		);
		if (!isConfirmed) streams.stderr.write("Nothing was touched.\n");
		return isConfirmed;
	}

	function fail(problems: readonly ContextProblem[], after: string): ExitCode {
		for (const { context, message } of problems) streams.stderr.write(`error: ${context}: ${message}\n`);
		streams.stderr.write(`${after}\n`);
		return exitCode.error;
	}

	/** Tells the user whether the agents form one fleet again, unless the user interrupts the wait for them. */
	async function tellSurvivors({ member, survivors }: ForgetPlan, contexts: readonly KubeContext[]): Promise<ExitCode> {
		const names = survivors.map(({ name }) => name).join(", ");
		const connection = connectFleet(contexts);
		void closeConnection({ connection });
		try {
			await unlessOver(connection, interrupts.stop);
		} catch (error) {
			if (!(error instanceof FleetUncoveredError)) throw error;
			for (const detail of error.details) streams.stderr.write(`error: ${detail}\n`);
			streams.stderr.write(
				`${member.name} is forgotten where it is said above; until ${names} agree nothing is evicted.\n`,
			);
			return exitCode.failedClosed;
		}
		if (interrupts.stoppedBy !== undefined) {
			streams.stderr.write(`Stopped: it is not known whether ${names} agree. Run the same command to check.\n`);
			return interrupts.stoppedBy;
		}
		streams.stdout.write(`${names} agree: evictions continue without ${member.name}\n`);
		const comeBack =
			"To have it back, bring its pods, budgets and certificate up to date, and list it again: kubectl xpdb install";
		streams.stdout.write(`${comeBack} --contexts=CONTEXTS\n`);
		return exitCode.done;
	}
};

function warningsOf({ member, unseen }: ForgetPlan, { agoMs }: HeardLately): readonly string[] {
	const heard = agoMs.get(member.id);
	return [
		...(heard === undefined
			? []
			: [
					`${member.name} was last seen ${Math.round(heard / 1_000)} s ago and may still be running. Make sure no drain runs there`,
				]),
		...unseen.map(
			(name) =>
				`${name} is a member too and no list of it changes here: nothing is evicted until it forgets ${member.name} as well`,
		),
	];
}
