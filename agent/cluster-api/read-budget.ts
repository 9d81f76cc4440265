import type { MemberBudget } from "../../disruption/budget/cluster.ts";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import { longestSuspensionText, suspensionAnnotation } from "../../disruption/budget/suspension.ts";
import { objectMeta, recordAt } from "../kubernetes/kubernetes-objects.ts";

/** Reads a budget without parsing its spec, which the decision validates. Throws TypeError if the metadata cannot be read. */
export function readBudget(object: unknown): MemberBudget {
	const { name } = objectMeta(object);
	const namespace = recordAt(object, "metadata")["namespace"];
	if (typeof namespace !== "string" || namespace === "") {
		throw new TypeError(`cannot read budget ${quote(name)}: it has no namespace`);
	}
	const suspension = suspensionOf(recordAt(object, "metadata")["annotations"]);
	return {
		name: { namespace, name },
		spec: isRecord(object) ? object["spec"] : undefined,
		...(suspension !== undefined && { suspension }),
	};
}

/** Returns the annotation; undefined if it is missing, not a text or too long. */
function suspensionOf(annotations: unknown): string | undefined {
	const text = isRecord(annotations) ? annotations[suspensionAnnotation] : undefined;
	return typeof text === "string" && text.length <= longestSuspensionText ? text : undefined;
}
