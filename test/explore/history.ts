// Formats a run as a table for people: the step, the actor, what it does, and the result.
import { leaseName } from "../../disruption/lease/lease.ts";
import type { LeaseObject } from "../../disruption/lease/lease-object.ts";
import { leaseText } from "./lease-text.ts";
import type { Outcome } from "./network.ts";
import type { Scenario } from "./scenario.ts";
import type { ApiCall } from "./simulated-api.ts";
import type { Preconditions } from "./simulated-api-server.ts";
import { namespace } from "./workload.ts";

export interface HistoryEntry {
	readonly step: number;
	readonly actor: string;
	readonly what: string;
	readonly effects: string[];
}

export function requestText(
	{ verb, resource, name, detail }: ApiCall<unknown>,
	cluster: string,
	scenario: Scenario,
): string {
	const object = name.replace(`${namespace}/`, "");
	switch (resource) {
		case "leases": {
			const budget = budgetOfLease(name, scenario);
			if (verb === "list") return `list Leases in ${cluster}`;
			return `${verb} Lease ${budget} in ${cluster}`;
		}
		case "pods":
			if (verb === "evict") {
				const { uid = "any", resourceVersion = "any" } = (detail ?? {}) as Preconditions;
				return `evict pod ${object} in ${cluster} (uid ${uid}, version ${resourceVersion})`;
			}
			if (verb === "patch") return `touch pod ${object} in ${cluster}`;
			return verb === "list" ? `list pods in ${cluster}` : `get pod ${object} in ${cluster}`;
		case "budgets":
		case "fleet":
		case "scales":
		case "workloads":
		case "nodes":
		case "version":
			return `${verb} ${resource} ${object} in ${cluster}`;
	}
}

export function answerText(what: string, outcome: Outcome): string {
	if (!outcome.ok) return outcome.error instanceof Error ? outcome.error.message : String(outcome.error);
	const { value } = outcome;
	if (value === undefined) return /^(get|list)/.test(what) ? "not found" : "done";
	if (isLease(value)) return leaseText(value);
	if (Array.isArray(value))
		return value.every(isLease) ? value.map(leaseText).join("; ") || "none" : `${value.length} objects`;
	return short(value);
}

/** A violation is among the effects of the step in which it was found. */
export function formatHistory(history: readonly HistoryEntry[]): string {
	const actorWidth = Math.max(...history.map(({ actor }) => actor.length), 5);
	const stepWidth = String(history.at(-1)?.step ?? 0).length;
	const head = `${"step".padStart(Math.max(stepWidth, 4))}  ${"actor".padEnd(actorWidth)}  call, and its effect`;
	const indent = " ".repeat(Math.max(stepWidth, 4) + actorWidth + 4);
	return [
		head,
		...history.flatMap(({ step, actor, what, effects }) => [
			`${String(step).padStart(Math.max(stepWidth, 4))}  ${actor.padEnd(actorWidth)}  ${what}`,
			...effects.map((effect) => `${indent}  -> ${effect.split("\n").join(`\n${indent}     `)}`),
		]),
	].join("\n");
}

/** For each scenario, the budget's name by the name of its Lease. */
const budgetNames = new WeakMap<Scenario, ReadonlyMap<string, string>>();

function budgetOfLease(lease: string, scenario: Scenario): string {
	let names = budgetNames.get(scenario);
	if (!names) {
		const budgets = scenario.clusters.flatMap((cluster) => cluster.budgets);
		names = new Map(budgets.map(({ name }) => [leaseName({ namespace, name }), name]));
		budgetNames.set(scenario, names);
	}
	return names.get(lease) ?? lease;
}

function isLease(value: unknown): value is LeaseObject {
	return typeof value === "object" && value !== null && "spec" in value && "annotations" in value;
}

function short(value: unknown): string {
	return JSON.stringify(value) ?? String(value);
}
