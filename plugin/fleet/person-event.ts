// Builds and writes a Kubernetes Event (events.k8s.io/v1) that reports what a user did with an object.
import { shortenTo } from "../../disruption/quote.ts";
import { errorText } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";

export interface PersonEvent {
	readonly regarding: {
		readonly apiVersion: string;
		readonly kind: string;
		readonly namespace: string;
		readonly name: string;
		/** "" if the object no longer exists. */
		readonly uid: string;
	};
	/** Milliseconds since the epoch. */
	readonly at: number;
	/** For example "alice@laptop", as claimed. */
	readonly by: string;
	readonly action: string;
	readonly reason: string;
	readonly type: "Normal" | "Warning";
	readonly note: string;
}

/** Limits of events.k8s.io/v1. */
const longestNoteBytes = 1_024;
const longestInstance = 128;
const answerWithinMs = 10_000;

/** Returns why writing failed; undefined on success. With `rehearse`, nothing is written. */
export async function writePersonEvent(
	{ client }: Pick<KubeContext, "client">,
	namespace: string,
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

export function personEvent({ regarding, at, by, action, reason, type, note }: PersonEvent): object {
	const { uid, ...object } = regarding;
	// A name has at most 253 characters, including the time, and the part before the time must not end with a dot.
	const nameFront = object.name.slice(0, 220).replace(/[^a-z0-9]+$/, "");
	return {
		apiVersion: "events.k8s.io/v1",
		kind: "Event",
		// Named as by client-go: the object's name and the time in hexadecimal nanoseconds.
		metadata: { name: `${nameFront}.${(BigInt(at) * 1_000_000n).toString(16)}`, namespace: object.namespace },
		// Go accepts exactly six digits here.
		eventTime: new Date(at).toISOString().replace("Z", "000Z"),
		reportingController: "xpdb.form3.tech/kubectl-xpdb",
		reportingInstance: shortenTo(by, longestInstance - 1),
		action,
		reason,
		type,
		regarding: { ...object, ...(uid !== "" && { uid }) },
		note: fitBytes(note, longestNoteBytes),
	};
}

/** Shortens the text to at most this many UTF-8 bytes, without cutting a character. */
function fitBytes(text: string, bytes: number): string {
	const whole = Buffer.from(text);
	if (whole.length <= bytes) return text;
	return new TextDecoder().decode(whole.subarray(0, bytes), { stream: true });
}
