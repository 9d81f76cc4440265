// The Kubernetes Event that tells, beside the budget in each cluster, what a person did with it: events.k8s.io/v1.
import { type BudgetName, budgetApi } from "../../disruption/budget.ts";
import { shortenTo } from "../../disruption/quote.ts";
import { errorText } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";

export interface BudgetEvent {
	readonly name: BudgetName;
	/** Of the budget there; "" where there is none any more. */
	readonly uid: string;
	/** Milliseconds since the epoch. */
	readonly at: number;
	/** "alice@laptop", as claimed. */
	readonly by: string;
	readonly action: string;
	readonly reason: string;
	readonly type: "Normal" | "Warning";
	readonly note: string;
}

/** Of events.k8s.io/v1. */
const longestNoteBytes = 1_024;
const longestInstance = 128;
const answerWithinMs = 10_000;

/** Why the Event could not be had; undefined where it could. `rehearse`: nothing is written. */
export async function writeBudgetEvent(
	{ client }: Pick<KubeContext, "client">,
	{ namespace }: BudgetName,
	event: object,
	{ rehearse }: { readonly rehearse: boolean },
): Promise<string | undefined> {
	const folder = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`;
	try {
		await client.post(folder + (rehearse ? "?dryRun=All" : ""), event, { signal: AbortSignal.timeout(answerWithinMs) });
		return undefined;
	} catch (error) {
		if (!(error instanceof Error)) throw error;
		return errorText(error);
	}
}

export function budgetEvent({ name, uid, at, by, action, reason, type, note }: BudgetEvent): object {
	const { group, version } = budgetApi;
	// 253 characters with the time, and no dot at the end.
	const nameFront = name.name.slice(0, 220).replace(/[^a-z0-9]+$/, "");
	return {
		apiVersion: "events.k8s.io/v1",
		kind: "Event",
		// As client-go names them: the object's name and the time.
		metadata: { name: `${nameFront}.${(BigInt(at) * 1_000_000n).toString(16)}`, namespace: name.namespace },
		// Go reads six digits and no others.
		eventTime: new Date(at).toISOString().replace("Z", "000Z"),
		reportingController: "xpdb.form3.tech/kubectl-xpdb",
		reportingInstance: shortenTo(by, longestInstance - 1),
		action,
		reason,
		type,
		regarding: {
			apiVersion: `${group}/${version}`,
			kind: "XPodDisruptionBudget",
			namespace: name.namespace,
			name: name.name,
			...(uid !== "" && { uid }),
		},
		note: fitBytes(note, longestNoteBytes),
	};
}

/** No half characters. */
function fitBytes(text: string, bytes: number): string {
	const whole = Buffer.from(text);
	if (whole.length <= bytes) return text;
	return new TextDecoder().decode(whole.subarray(0, bytes - 3), { stream: true });
}
