// Suggests complete commands to run after reading an explanation.
import { reasons } from "../events/reason.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { PodOfBudget } from "../fleet/budget-table.ts";
import type { ExplainedPod, Explanation, Finding } from "../plan/explain/explanation.ts";
import { fixCommand } from "./fix-command.ts";

export interface HelpfulCommand {
	readonly does: string;
	readonly command: string;
}

export interface HelpOptions {
	readonly context: string;
	readonly suggest: SuggestedCommands;
	/** The flags of the drain that the explanation is about, for example --force. */
	readonly drainFlags?: readonly string[];
}

const mostUsers = 2;

export function helpfulCommands(explanation: Explanation, options: HelpOptions): readonly HelpfulCommand[] {
	const found = [...fixes(explanation, options), ...users(explanation, options), ...actions(explanation, options)];
	return [...new Map(found.map((each) => [each.command, each])).values()];
}

export function flagsNeeded(pods: readonly ExplainedPod[]): readonly string[] {
	const refused = pods.filter(({ drain }) => drain.kind === "refuses");
	// The filters name only the first missing flag. A pod without a controller always needs --force too.
	const flags = refused.flatMap(({ drain, owner }) => [
		/\(use (--[a-z-]+) /.exec(drain.message)?.[1],
		owner === "" ? "--force" : undefined,
	]);
	return [...new Set(flags)].filter((flag) => flag !== undefined).toSorted();
}

/** For findings that need action, or for which an answer is missing. */
function fixes(explanation: Explanation, options: HelpOptions): readonly HelpfulCommand[] {
	const { subject, findings } = explanation;
	const { suggest } = options;
	return findings.flatMap((finding): readonly HelpfulCommand[] => {
		const { verdict, reason, budget } = finding;
		if (verdict === "Waits" || reason === "PodsNotAllowed") return [];
		if (reason === "PeerUnreachable") {
			const command = suggest.xpdbInAll(["version"]);
			return [{ does: "See which clusters answer", command }];
		}
		const [namespace = subject.namespace, name] = budget?.split("/") ?? [];
		const context = contextFor(finding, explanation, options);
		// No context of this run leads to a cluster that has the object.
		if (context === undefined) return [];
		if (reason === "BudgetStaysUsedUp") {
			return [{ does: "The nodes that replacements could go to", command: suggest.kubectl(["get", "nodes"], context) }];
		}
		if (reason === "BudgetNeverMet" && name !== undefined && namespace !== undefined) {
			return [
				{
					does: "The budget as it is written",
					command: suggest.kubectl(["get", "xpdb", name, "-n", namespace, "-o", "yaml"], context),
				},
			];
		}
		const known = reasons.find((each) => each === reason);
		if (known === undefined) return [];
		const node = subject.kind === "Node" ? subject.name : undefined;
		const command = fixCommand(known, { context, suggest, namespace, node });
		return command === undefined ? [] : [{ does: "What to look at", command }];
	});
}

/** The commands for these reasons show the budget, which not every cluster has. */
const aboutBudget = new Set<Finding["reason"]>([
	"BudgetNeverMet",
	"InvalidBudget",
	"FeatureMissing",
	"ExpectedPodsUnknown",
]);

/** Returns the context of a cluster that has the object. Undefined if no context leads to one. Any context if every cluster will do. */
function contextFor(
	{ reason, budget, clusters: about = [] }: Finding,
	{ subject, budgets, contexts }: Explanation,
	options: HelpOptions,
): string | undefined {
	const rows = budgets.filter(({ namespace, name }) => budget === undefined || `${namespace}/${name}` === budget);
	const members = rows.flatMap((row) => row.members);
	const unreadable = members.filter(({ bound }) => bound === undefined);
	const having = [...unreadable, ...members].map(({ cluster }) => cluster);
	const isBudget = aboutBudget.has(reason);
	// Best first.
	const places = isBudget && having.length > 0 ? [...about.filter((name) => having.includes(name)), ...having] : about;
	const found = places.map((name) => contexts.get(name)).find((context) => context !== undefined);
	if (found !== undefined || places.length > 0) return found;
	return subject.context ?? [...contexts.values()][0] ?? options.context;
}

function users({ budgets, findings, contexts }: Explanation, { suggest }: HelpOptions): readonly HelpfulCommand[] {
	const keeping = new Set(findings.filter(isUsedUp).map(({ budget }) => budget));
	const pods = budgets
		.filter(({ namespace, name }) => keeping.has(`${namespace}/${name}`))
		.flatMap(({ usedBy }) => usedBy);
	const stuck = pods.filter(({ why }) => why !== "Reserved").slice(0, mostUsers);
	const held = pods.some(({ why, holder }) => why === "Reserved" && holder !== undefined);
	return [
		...stuck.flatMap((pod) => describePod(pod, contexts, suggest)),
		...(held
			? [
					{
						does: "Drains that are under way or were left",
						command: suggest.xpdbInAll(["ops"]),
					},
				]
			: []),
	];
}

function isUsedUp({ reason }: Finding): boolean {
	return reason === "BudgetExhausted" || reason === "BudgetNeverMet";
}

function describePod(
	{ cluster, namespace, name, why }: PodOfBudget,
	contexts: ReadonlyMap<string, string>,
	suggest: SuggestedCommands,
): readonly HelpfulCommand[] {
	const context = contexts.get(cluster);
	if (context === undefined) return [];
	const does = `Why ${namespace}/${name} is ${why === "Terminating" ? "still there" : "not ready"}`;
	return [{ does, command: suggest.kubectl(["describe", "pod", name, "-n", namespace], context) }];
}

function actions(
	{ subject, verdict, pods }: Explanation,
	{ suggest, drainFlags = [] }: HelpOptions,
): readonly HelpfulCommand[] {
	const { kind, context, namespace = "", name } = subject;
	if (kind === "Pod" && (verdict === "MayGo" || verdict === "Waits")) {
		const [pod] = pods;
		if (pod?.state === "Terminating") {
			return [{ does: "How it ends", command: suggest.kubectl(["describe", "pod", name, "-n", namespace], context) }];
		}
		const does = verdict === "MayGo" ? "Evict it" : "Evict it as soon as the budget allows it";
		return [{ does, command: suggest.xpdb(["evict", name, "-n", namespace], context) }];
	}
	if (kind === "Node" && verdict !== "Unknown") {
		const flags = new Set([...drainFlags, ...flagsNeeded(pods)]);
		if (pods.some(({ drain, owner }) => drain.kind === "leaves" && owner.startsWith("DaemonSet/"))) {
			flags.add("--ignore-daemonsets");
		}
		const words = [name, ...[...flags].toSorted()];
		return [
			{ does: "All of it in order, and how long", command: suggest.xpdb(["plan", ...words], context) },
			{ does: `Drain it${lossText(pods, flags)}`, command: suggest.xpdb(["drain", ...words], context) },
		];
	}
	return [];
}

/** Says which pods --force would lose in this drain. "" if none. */
function lossText(pods: readonly ExplainedPod[], flags: ReadonlySet<string>): string {
	if (!flags.has("--force")) return "";
	const bare = pods.filter(({ owner, drain }) => owner === "" && drain.kind !== "leaves");
	const names = bare.slice(0, mostUsers).map(({ namespace, pod }) => `${namespace}/${pod}`);
	const more = bare.length > names.length ? ` and ${bare.length - names.length} more` : "";
	return names.length === 0 ? "" : `; --force takes pods that nothing recreates (${names.join(", ")}${more})`;
}
