import { isRecord } from "../../disruption/record.ts";
import { type JsonObject, timestamp } from "./api-object.ts";

export interface Condition {
	readonly type: string;
	readonly status: "True" | "False" | "Unknown";
	readonly reason?: string;
	readonly message?: string;
}

/** Changes lastTransitionTime only if the condition's status changes. */
export function withCondition(status: JsonObject, condition: Condition): JsonObject {
	const conditions = Array.isArray(status["conditions"]) ? status["conditions"].filter(isRecord) : [];
	const old = conditions.find(({ type }) => type === condition.type);
	const moved = old?.["status"] !== condition.status;
	const lastTransitionTime = moved ? timestamp() : old["lastTransitionTime"];
	const next = { ...condition, lastTransitionTime };
	return {
		...status,
		conditions: old ? conditions.map((each) => (each === old ? next : each)) : [...conditions, next],
	};
}
