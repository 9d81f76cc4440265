// Implements explain budget/NAME: whether one of the budget's pods can be evicted now.
import { type BudgetName, budgetApi, formatBudgetName } from "../../../disruption/budget/budget.ts";
import { exhaustedText, mislabelledText, neverMetText } from "../../../disruption/budget/budget-text.ts";
import { countedHealthy } from "../../../disruption/budget/healthy.ts";
import type { BudgetsOfMember } from "../../../disruption/budget/coverage-judgement.ts";
import { judgeBudget } from "../../../disruption/budget/decide.ts";
import { readSpecs } from "../../../disruption/budget/allowance.ts";
import { isDomainError } from "../../../disruption/errors.ts";
import { nearest } from "../../flags/nearest.ts";
import { type BudgetOfMember, budgetOfMembers } from "../../fleet/budget-members.ts";
import { type BudgetRow, unknownRow } from "../../fleet/budget-table.ts";
import { ApiError } from "../../kubernetes/api-error.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { UsageError } from "../../terminal/errors.ts";
import type { PlanBudget } from "../drain-plan.ts";
import { type Candidate, countBudget } from "./count-budget.ts";
import type { ExplainOptions } from "./explain-pods.ts";
import { type Explanation, type Finding, worstFirst, worstOf } from "./explanation.ts";
import { type FleetOfView, type FleetView, membersOf } from "./fleet-view.ts";
import { readHeldLeases } from "./read-held-leases.ts";
import { withReplacements } from "./read-replacements.ts";
import type { SubjectWord } from "./read-subject.ts";

export async function explainBudget(
	word: SubjectWord,
	contexts: readonly KubeContext[],
	viewing: Promise<FleetView>,
	{ runtime }: Pick<ExplainOptions, "runtime">,
): Promise<Explanation> {
	const view = await viewing;
	const places = word.context ? [word.context] : contexts;
	const namespaces = [...new Set(places.map(({ namespace }) => namespace))];
	return explainIn({ namespaces, wanted: word.rest, contexts }, view, runtime.now);
}

/** Ignores the namespaces of the contexts. */
export async function explainNamedBudget(
	view: FleetView,
	{ namespace, name }: BudgetName,
	contexts: readonly KubeContext[],
	now: () => number,
): Promise<Explanation> {
	return explainIn({ namespaces: [namespace], wanted: name, contexts }, view, now);
}

async function explainIn(
	{
		namespaces,
		wanted,
		contexts,
	}: {
		readonly namespaces: readonly string[];
		readonly wanted: string;
		readonly contexts: readonly KubeContext[];
	},
	{ fleet, problems }: FleetView,
	now: () => number,
): Promise<Explanation> {
	const lists = await listKnown(fleet, namespaces);
	const unread = lists.flatMap(({ clusterName, problem }) => (problem === undefined ? [] : [{ clusterName, problem }]));
	const failures = [...problems, ...unread.map(({ clusterName, problem }) => `${clusterName}: ${problem}`)];
	const names = lists.flatMap(({ budgets }) => budgets.map(({ name }) => name));
	const found = new Map(names.filter(({ name }) => name === wanted).map((name) => [formatBudgetName(name), name]));
	const [name, ...others] = found.values();
	if (others.length > 0) {
		throw new UsageError(`budget "${wanted}" is in more than one namespace: ${namespaces.join(", ")}`, "Use -n");
	}
	if (!name && failures.length === 0) {
		throw notFound(wanted);
	}
	const missing = failures.length > 0 ? [unknown] : [];
	const budget = name ?? { namespace: namespaces[0] ?? "", name: wanted };
	const { row, findings } =
		name && fleet ? await judgeBudgetNow(fleet, name, lists, { now }) : { row: undefined, findings: [] };
	const leases = await readHeldLeases(fleet, name ? [name] : []);
	const all = worstFirst([...missing, ...findings]);
	const members = membersOf({ fleet, problems: failures });
	return {
		subject: { kind: "Budget", ...budget },
		verdict: worstOf(all),
		findings: all,
		pods: [],
		budgets: row ? [await withReplacements(row, fleet, contexts)] : [],
		leases,
		notes: [],
		...members,
		// A member whose list failed must not look like one without the budget.
		answering: members.answering.filter((name) => unread.every(({ clusterName }) => clusterName !== name)),
	};
}

function notFound(name: string): ApiError {
	return new ApiError(`${budgetApi.resource}.${budgetApi.group} "${name}" not found`, {
		code: 404,
		reason: "NotFound",
	});
}

/** Prefers the same name in any namespace to a similar name in the contexts' namespaces. */
export async function nearestBudget(
	{ fleet }: FleetView,
	name: string,
	contexts: readonly KubeContext[],
): Promise<BudgetName | undefined> {
	const namespaces = new Set(contexts.map(({ namespace }) => namespace));
	const all = (await listKnown(fleet, [])).flatMap(({ budgets }) => budgets.map((budget) => budget.name));
	const here = all.filter(({ namespace }) => namespaces.has(namespace));
	const near = nearest(
		name,
		here.map((each) => each.name),
	);
	return all.find((each) => each.name === name) ?? here.find((each) => each.name === near);
}

export interface KnownList extends Pick<BudgetsOfMember, "clusterName" | "budgets"> {
	readonly problem?: string;
}

/** Asks only the members that answered at connect time. A failed list is empty and has a `problem`. */
export async function listKnown(
	fleet: Pick<FleetOfView, "members" | "descriptions"> | undefined,
	namespaces: readonly string[],
): Promise<readonly KnownList[]> {
	return Promise.all(
		(fleet?.members ?? [])
			.filter(({ id }) => fleet?.descriptions.has(id))
			.map(async (member): Promise<KnownList> => {
				try {
					const { budgets } = await member.listBudgets(namespaces);
					return { clusterName: member.name, budgets };
				} catch (error) {
					if (!isDomainError(error)) throw error;
					return { clusterName: member.name, budgets: [], problem: error.message };
				}
			}),
	);
}

interface JudgedNow {
	readonly row: BudgetRow;
	readonly findings: readonly Finding[];
	/** Left out if the counts are unusable. */
	readonly counted?: PlanBudget;
}

/** Returns the budget's state and what blocks its pods. `lists`: what listKnown() returned for the budget's namespace. */
export async function judgeBudgetNow(
	fleet: Pick<FleetOfView, "members" | "descriptions">,
	name: BudgetName,
	lists: readonly KnownList[],
	{ now, candidates = [] }: { readonly now: () => number; readonly candidates?: readonly Candidate[] },
): Promise<JudgedNow> {
	const key = formatBudgetName(name);
	const read = readSpecs(key, lists);
	const members = budgetOfMembers(name, lists);
	const [first] = read.kind === "read" ? read.specs : [];
	if (!first) {
		const { reason, message } =
			read.kind === "refused" ? read : ({ reason: "InvalidBudget", message: `budget ${key} cannot be read` } as const);
		// Without a selector, no pod can be counted.
		return {
			row: { ...unknownRow(name, [], message), members },
			findings: [
				{ verdict: "Refused", reason, message, budget: key, clusters: clustersOf(members, reason), usedBy: [] },
			],
		};
	}
	const { row, counted } = await countBudget(fleet, { name, selector: first.spec.selector }, candidates, now);
	const whole = { ...row, members };
	if ("verdict" in counted) return { row: whole, findings: [counted] };
	return { row: whole, findings: [judgeCounted(counted, whole)].filter((each) => each !== undefined), counted };
}

/** Returns the clusters whose copy of an invalid budget cannot be read. Otherwise returns all clusters that have the budget. */
function clustersOf(members: readonly BudgetOfMember[], reason: Finding["reason"]): readonly string[] {
	const unreadable = members.filter(({ bound }) => bound === undefined);
	return (reason === "InvalidBudget" && unreadable.length > 0 ? unreadable : members).map(({ cluster }) => cluster);
}

/** Returns what blocks the next eviction. Undefined if the budget allows one more. */
function judgeCounted({ key, memberIds, bound, counted }: PlanBudget, row: BudgetRow): Finding | undefined {
	const usedBy = row.usedBy.map(({ name, ...pod }) => ({ ...pod, pod: name }));
	const judged = judgeBudget(memberIds, counted);
	if (judged.kind === "refused") {
		const uncounted = counted.counts.filter(({ expected }) => expected.kind === "unknown");
		const clusters = uncounted.map(({ clusterName }) => clusterName);
		return { verdict: "Refused", ...judged, budget: key, ...(clusters.length > 0 && { clusters }), usedBy: [] };
	}
	if (judged.kind === "waiting") return { verdict: "Waits", ...judged, budget: key, usedBy: [] };
	const { need, left, expected, healthy } = judged.state;
	if (left === undefined || left > 0) return undefined;
	const atBest = counted.counts.map((count) => ({
		...count,
		healthy: count.expected.kind === "known" ? Math.max(count.healthy, count.expected.pods) : Number.MAX_SAFE_INTEGER,
	}));
	const best = judgeBudget(memberIds, { ...counted, counts: atBest });
	if (best.kind === "state" && best.state.left === 0) {
		const message =
			expected === 0 ? exhaustedText(key, judged.state) : neverMetText(key, bound, { need, healthy, expected });
		return { verdict: "Refused", reason: "BudgetNeverMet", message, budget: key, usedBy };
	}
	const numbers = { ...judged.state, healthy: countedHealthy(counted.counts) };
	const message = exhaustedText(key, numbers) + mislabelledText(judged.state.mislabelled ?? []);
	return { verdict: "Waits", reason: "BudgetExhausted", message, budget: key, usedBy };
}

const unknown: Finding = {
	verdict: "Unknown",
	reason: "PeerUnreachable",
	message: "what it allows is not known while members give no answer, and counts as nothing",
	usedBy: [],
};
