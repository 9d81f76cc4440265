// Parses the label and field selectors of requests, and the label selectors in objects.
import { type LabelSelector, matchesSelector, parseLabelSelector } from "../../disruption/budget/selector.ts";
import { type ApiObject, valueAt } from "./api-object.ts";
import type { ResourceType } from "./resource-types.ts";
import { badRequest } from "./status-error.ts";

export type Predicate = (object: ApiObject) => boolean;

/** Returns a predicate that requires both selectors. Throws StatusError if one is invalid. */
export function parseSelectors(
	type: ResourceType,
	{ labelSelector, fieldSelector }: { readonly labelSelector: string; readonly fieldSelector: string },
): Predicate {
	const labels = parseLabels(labelSelector);
	const fields = parseFields(type, { labelSelector, fieldSelector });
	return (object) => matchesSelector(labels, object.metadata.labels ?? {}) && fields(object);
}

/** Reads a metav1.LabelSelector. A missing one selects nothing. */
export function selectorOf(value: unknown): Predicate {
	if (value === undefined || value === null) return () => false;
	const selector = parseLabelSelector(value, "spec.selector");
	return (object) => matchesSelector(selector, object.metadata.labels ?? {});
}

function parseLabels(text: string): LabelSelector {
	if (text.trim() === "") return { requirements: [] };
	// Commas in parentheses belong to a list of values.
	const requirements = text.split(/,(?![^(]*\))/).map((part) => {
		const found = parseRequirement(part.trim());
		if (!found) throw badRequest(`unable to parse requirement: ${part}`);
		return found;
	});
	return { requirements };
}

function parseRequirement(part: string): LabelSelector["requirements"][number] | undefined {
	const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(part);
	if (set) {
		const [, key = "", operator, list = ""] = set;
		const values = list.split(",").map((value) => value.trim());
		return { key, operator: operator === "in" ? "In" : "NotIn", values };
	}
	const equal = /^([^\s=!]+)\s*(==?|!=)\s*([\w.-]*)$/.exec(part);
	if (equal) {
		const [, key = "", operator, value = ""] = equal;
		return { key, operator: operator === "!=" ? "NotIn" : "In", values: [value] };
	}
	const [, not, key] = /^(!?)\s*([\w./-]+)$/.exec(part) ?? [];
	if (key === undefined) return undefined;
	return { key, operator: not === "!" ? "DoesNotExist" : "Exists", values: [] };
}

const podFields = ["spec.nodeName", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.podIP"];

function parseFields(
	type: ResourceType,
	{ labelSelector, fieldSelector }: { readonly labelSelector: string; readonly fieldSelector: string },
): Predicate {
	const known = ["metadata.name", "metadata.namespace"];
	if (type.key === "pods") known.push(...podFields);
	if (type.key === "nodes") known.push("spec.unschedulable");
	if (type.key === "events") known.push("involvedObject.name", "involvedObject.namespace", "involvedObject.uid");
	const tests = fieldSelector
		.split(",")
		.filter((term) => term !== "")
		.map((term) => {
			const [, path = "", operator, value = ""] = /^([^=!]+)(==?|!=)(.*)$/.exec(term) ?? [];
			if (!known.includes(path)) {
				const subject = `"${type.group === "" ? "/" : `${type.group}/`}${type.version}, Resource=${type.plural}"`;
				throw badRequest(
					`Unable to find ${subject} that match label selector ${JSON.stringify(labelSelector)}, field selector ${JSON.stringify(fieldSelector)}: field label not supported: ${path}`,
				);
			}
			const has = (object: ApiObject) => fieldText(valueAt(object, path));
			return (object: ApiObject) => (has(object) === value) === (operator !== "!=");
		});
	return (object) => tests.every((test) => test(object));
}

function fieldText(value: unknown): string {
	return typeof value === "string" || typeof value === "boolean" ? String(value) : "";
}
