// The Kubernetes Event that tells of a suspension, beside the budget in each cluster: events.k8s.io/v1.
import { budgetApi, formatBudgetName } from "../../disruption/budget.ts";
import { shortenTo } from "../../disruption/quote.ts";
import { errorText } from "../kubernetes/api-error.ts";
import type { SuspensionTarget } from "./suspension-target.ts";

export interface SuspensionNote {
	readonly suspend: boolean;
	/** "alice@laptop", as claimed. */
	readonly by: string;
	/** Milliseconds since the epoch. */
	readonly at: number;
	readonly reason: string | undefined;
	/** Names in the fleet of the members in which it was written. */
	readonly clusters: readonly string[];
}

/** Of events.k8s.io/v1. */
const longestNoteBytes = 1_024;
const longestInstance = 128;
const answerWithinMs = 10_000;

/** Why the Event could not be had; undefined where it could. `rehearse`: nothing is written. */
export async function tellSuspension(
	target: SuspensionTarget,
	note: SuspensionNote,
	{ rehearse }: { readonly rehearse: boolean },
): Promise<string | undefined> {
	const { context, name } = target;
	const folder = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(name.namespace)}/events`;
	try {
		await context.client.post(folder + (rehearse ? "?dryRun=All" : ""), suspensionEvent(target, note), {
			signal: AbortSignal.timeout(answerWithinMs),
		});
		return undefined;
	} catch (error) {
		if (!(error instanceof Error)) throw error;
		return errorText(error);
	}
}

export function suspensionEvent(
	{ name, found }: SuspensionTarget,
	{ suspend, by, at, reason, clusters }: SuspensionNote,
): object {
	const { group, version } = budgetApi;
	const what = suspend ? "suspended" : "unsuspended";
	const effect = suspend ? "it holds no eviction back" : "it holds again";
	// 253 characters with the time, and no dot at the end.
	const nameFront = name.name.slice(0, 220).replace(/[^a-z0-9]+$/, "");
	const why = reason === undefined ? "" : `: ${reason}`;
	return {
		apiVersion: "events.k8s.io/v1",
		kind: "Event",
		// As client-go names them: the object's name and the time.
		metadata: { name: `${nameFront}.${(BigInt(at) * 1_000_000n).toString(16)}`, namespace: name.namespace },
		// Go reads six digits and no others.
		eventTime: new Date(at).toISOString().replace("Z", "000Z"),
		reportingController: "xpdb.form3.tech/kubectl-xpdb",
		reportingInstance: shortenTo(by, longestInstance - 1),
		action: suspend ? "Suspend" : "Unsuspend",
		reason: suspend ? "Suspended" : "Unsuspended",
		type: suspend ? "Warning" : "Normal",
		regarding: {
			apiVersion: `${group}/${version}`,
			kind: "XPodDisruptionBudget",
			namespace: name.namespace,
			name: name.name,
			uid: found.uid,
		},
		note: fitBytes(
			`budget ${formatBudgetName(name)} was ${what} by ${by} in ${clusters.join(", ")}, ${effect}${why}`,
			longestNoteBytes,
		),
	};
}

/** No half characters. */
function fitBytes(text: string, bytes: number): string {
	const whole = Buffer.from(text);
	if (whole.length <= bytes) return text;
	return new TextDecoder().decode(whole.subarray(0, bytes - 3), { stream: true });
}
