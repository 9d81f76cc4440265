// Parses the object to explain: pod/NAME, "pod NAME" or CONTEXT/pod/NAME, and the same for budgets and nodes.
import { budgetApi } from "../../../disruption/budget/budget.ts";
import { nearest } from "../../flags/nearest.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { absentContextHint, splitContext, type Word } from "../../nodes/find-in-contexts.ts";
import { readResourceArgument } from "../../nodes/resource-argument.ts";
import { UsageError } from "../../terminal/errors.ts";
import type { Subject } from "./explanation.ts";

export interface SubjectWord extends Word {
	readonly kind: Subject["kind"];
}

const budgetNames = [budgetApi.resource, "xpoddisruptionbudget"];
const types: readonly { readonly kind: Subject["kind"]; readonly names: readonly string[] }[] = [
	{ kind: "Pod", names: ["pod", "pods", "po"] },
	{ kind: "Node", names: ["node", "nodes", "no"] },
	{
		kind: "Budget",
		names: ["budget", "budgets", "xpdb", ...budgetNames, ...budgetNames.map((name) => `${name}.${budgetApi.group}`)],
	},
];
const usage = "Write pod/NAME, budget/NAME or node/NAME, such as: explain pod/db-0 -n shop";

/** Throws UsageError. */
export function readSubject(words: readonly string[], contexts: readonly KubeContext[]): SubjectWord {
	const [first = "", second, ...more] = words;
	if (words.length === 0) throw new UsageError("what should be explained?", usage);
	const kindOfFirst = kindOf(first);
	if (second !== undefined && kindOfFirst === undefined && !first.includes("/")) throw unknownType(first, contexts);
	if (more.length > 0 || (second !== undefined && kindOfFirst === undefined)) {
		throw new UsageError(`one thing at a time can be explained, these are ${count(words)}`, usage);
	}
	if (second !== undefined && kindOfFirst !== undefined) {
		const word = splitContext(second, contexts);
		const absent = absentContextHint(word.rest, contexts);
		const { type, name } = readResourceArgument(word.rest, absent ?? usage);
		if (type !== undefined && kindOf(type) !== kindOfFirst) throw unknownType(type, contexts, absent);
		return { ...word, kind: kindOfFirst, rest: name, type: first };
	}
	if (kindOfFirst !== undefined) throw new UsageError(`which ${first}?`, usage);
	const word = splitContext(first, contexts);
	const absent = absentContextHint(word.rest, contexts);
	const { type, name } = readResourceArgument(word.rest, absent ?? usage);
	if (type === undefined) throw new UsageError(`is "${name}" a pod, a budget or a node?`, usage);
	const kind = kindOf(type);
	if (!kind) throw unknownType(type, contexts, absent);
	return { ...word, kind, rest: name, type };
}

function kindOf(type: string): Subject["kind"] | undefined {
	return types.find(({ names }) => names.includes(type.toLowerCase()))?.kind;
}

function count(words: readonly string[]): number {
	return kindOf(words[0] ?? "") === undefined ? words.length : words.length - 1;
}

function unknownType(type: string, contexts: readonly KubeContext[], hint?: string): UsageError {
	const near = nearest(type, [...types.flatMap(({ names }) => names), ...contexts.map(({ name }) => name)]);
	return new UsageError(
		`"${type}" is neither pod, budget nor node${contexts.length > 1 ? ", nor a context of --contexts" : ""}`,
		hint ?? (near === undefined ? usage : `Did you mean ${near}/...?`),
	);
}
