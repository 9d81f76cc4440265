import type { MemberBudget } from "../../disruption/cluster.ts";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import { objectMeta, recordAt } from "../kubernetes/kubernetes-objects.ts";

/** A budget with its spec as it stands: whether it can be enforced is judged by whoever decides. */
export function readBudget(object: unknown): MemberBudget {
	const { name } = objectMeta(object);
	const namespace = recordAt(object, "metadata")["namespace"];
	if (typeof namespace !== "string" || namespace === "") {
		throw new TypeError(`Cannot read budget ${quote(name)}: it has no namespace`);
	}
	return { name: { namespace, name }, spec: isRecord(object) ? object["spec"] : undefined };
}
