// Reads a budget from the API servers of all members, in order to change its `spec.suspend`.
import { type BudgetName, budgetApi, formatBudgetName } from "../../disruption/budget/budget.ts";
import { isRecord } from "../../disruption/record.ts";
import { parseSuspension, type Suspension, suspensionAnnotation } from "../../disruption/budget/suspension.ts";
import { ApiError, errorText, isNotFound } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { FleetUncoveredError } from "../terminal/errors.ts";
import type { Fleet } from "./fleet.ts";

export interface SuspensionTarget {
	readonly context: KubeContext;
	/** The member's name in the fleet. */
	readonly cluster: string;
	readonly name: BudgetName;
	readonly found: FoundBudget;
}

export interface FoundBudget {
	readonly uid: string;
	readonly resourceVersion: string;
	readonly suspended: boolean;
	/** The previous `spec.suspend`, to restore it. */
	readonly suspend: unknown;
	/** The previous annotation, to restore it. */
	readonly annotation: string | undefined;
	readonly suspension: Suspension | undefined;
}

/**
 * Returns the budget in every member that has it. Throws a FleetUncoveredError that names each member without a context, or whose API
 * server cannot be read. Throws ApiError in kubectl's words if no member has the budget.
 */
export async function readSuspensionTargets(
	fleet: Pick<Fleet, "members" | "contextOf">,
	contexts: readonly KubeContext[],
	name: BudgetName,
): Promise<readonly SuspensionTarget[]> {
	const members = fleet.members.map(({ id, name: cluster }) => {
		const contextName = fleet.contextOf(id);
		return { id, cluster, context: contexts.find((each) => each.name === contextName) };
	});
	const wayless = members.filter(({ context }) => !context);
	if (wayless.length > 0) {
		const named = contexts.map((context) => context.name).join(",");
		throw new FleetUncoveredError(
			`cannot write budget ${formatBudgetName(name)} in all members: no context of this run leads to some, nothing was touched`,
			wayless.map(
				({ cluster, id }) => `${cluster} (id ${id}): name its context too: --contexts=${named},CONTEXT-OF-${cluster}`,
			),
			{ isExplained: true },
		);
	}
	const problems: string[] = [];
	const targets = await Promise.all(
		members.map(async ({ cluster, context }): Promise<SuspensionTarget | undefined> => {
			if (!context) return undefined;
			try {
				const found = await findBudget(context, name);
				return found && { context, cluster, name, found };
			} catch (error) {
				if (!(error instanceof Error)) throw error;
				problems.push(`${cluster}: ${errorText(error)}`);
				return undefined;
			}
		}),
	);
	if (problems.length > 0) {
		throw new FleetUncoveredError(
			`cannot read budget ${formatBudgetName(name)} in all members, nothing was touched`,
			problems.toSorted(),
		);
	}
	const found = targets.filter((target) => target !== undefined);
	if (found.length === 0) throw budgetNotFound(name.name);
	return found;
}

export function budgetNotFound(name: string): ApiError {
	const kind = `${budgetApi.resource}.${budgetApi.group}`;
	return new ApiError(`${kind} "${name}" not found`, { code: 404, reason: "NotFound" });
}

/** Undefined if the cluster does not have the budget or its kind. */
export async function findBudget(
	{ client }: KubeContext,
	name: BudgetName,
	signal?: AbortSignal,
): Promise<FoundBudget | undefined> {
	try {
		return readFoundBudget(await client.get<unknown>(budgetPath(name), signal ? { signal } : {}));
	} catch (error) {
		if (isNotFound(error)) return undefined;
		throw error;
	}
}

export function budgetPath({ namespace, name }: BudgetName): string {
	const { group, version, resource } = budgetApi;
	const folder = `/apis/${group}/${version}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
	return `${folder}/${encodeURIComponent(name)}`;
}

/** Throws if the uid or resourceVersion is missing, because every write must name the version. */
export function readFoundBudget(object: unknown): FoundBudget {
	const metadata = recordIn(object, "metadata");
	const { uid, resourceVersion } = metadata;
	if (typeof uid !== "string" || typeof resourceVersion !== "string" || uid === "" || resourceVersion === "") {
		throw new TypeError("the API server's answer is not a budget: it has no uid or no resourceVersion");
	}
	const { suspend } = recordIn(object, "spec");
	const annotation = recordIn(metadata, "annotations")[suspensionAnnotation];
	const text = typeof annotation === "string" ? annotation : undefined;
	return {
		uid,
		resourceVersion,
		suspended: suspend === true,
		suspend,
		annotation: text,
		suspension: text === undefined ? undefined : parseSuspension(text),
	};
}

function recordIn(value: unknown, key: string): Readonly<Record<string, unknown>> {
	const inside = isRecord(value) ? value[key] : undefined;
	return isRecord(inside) ? inside : {};
}
