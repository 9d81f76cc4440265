// Builds the lane of each node with its pods, each from its first wait to its end. The times come from the pod's own events. An event at
// the end of a wait says how long the pod has waited, which gives the time of its first request.
import { isRecord } from "../../disruption/record.ts";
import { listOf, numberOf, type RecordedEvent, textOf } from "./recorded-event.ts";
import { podKey, Recoveries } from "./recoveries.ts";

export interface NodeLane {
	readonly context: string;
	/** "" for pods that `evict` named or selected. */
	readonly node: string;
	readonly cordonedAt: number | undefined;
	readonly end: { readonly at: number; readonly kind: "drained" | "failed"; readonly text: string } | undefined;
	readonly pods: readonly PodLane[];
}

export interface PodLane {
	/** NAMESPACE/NAME */
	readonly pod: string;
	readonly spans: readonly Span[];
	readonly end: PodEnd | undefined;
	/** Undefined if no count shows it. */
	readonly replacedAt: number | undefined;
	/** From the first request until the eviction was accepted, or until the pod's end. */
	readonly waitedMs: number;
}

export interface Span {
	readonly kind: "waiting" | "terminating";
	readonly from: number;
	readonly to: number;
	/** Why the pod waited, such as "BudgetExhausted"; "" if no reason was given. */
	readonly reason: string;
	readonly text: string;
}

export interface PodEnd {
	readonly at: number;
	readonly kind: "evicted" | "gone" | "stopped" | "failed" | "skipped" | "accepted";
	readonly text: string;
}

interface OpenSpan {
	readonly kind: Span["kind"];
	readonly from: number;
	readonly reason: string;
	readonly text: string;
}

interface OpenPod {
	readonly pod: string;
	readonly spans: Span[];
	open: OpenSpan | undefined;
	end: PodEnd | undefined;
	waitedMs: number;
}

interface OpenLane {
	readonly context: string;
	readonly node: string;
	cordonedAt: number | undefined;
	end: NodeLane["end"];
	readonly pods: Map<string, OpenPod>;
}

const ends = ["evicted", "gone", "stopped", "failed", "skipped"] as const;

export class PodLanes {
	readonly #lanes = new Map<string, OpenLane>();
	readonly #recoveries = new Recoveries();

	see(event: RecordedEvent): void {
		const { type, at, fields } = event;
		this.#recoveries.see(event);
		const [kind = "", what = ""] = type.split(".");
		if (kind === "node") this.#seeNode(what, at, fields);
		if (kind === "pod") this.#seePod(what, at, fields);
	}

	/** Returns the lanes in the order in which they first appeared. Unfinished spans are drawn until `to`. */
	lanes(to: number): readonly NodeLane[] {
		return [...this.#lanes.values()].map(({ pods, ...lane }) => ({
			...lane,
			pods: [...pods].map(([key, { pod, spans, open, end, waitedMs }]) => ({
				pod,
				replacedAt: this.#recoveries.replacedAt(key),
				spans: open ? [...spans, { ...open, to }] : spans,
				end: end ?? (open?.kind === "terminating" ? { at: open.from, kind: "accepted", text: "" } : undefined),
				waitedMs: open?.kind === "waiting" ? Math.max(waitedMs, to - firstFrom(spans, open)) : waitedMs,
			})),
		}));
	}

	#seeNode(what: string, at: number, fields: RecordedEvent["fields"]): void {
		const lane = this.#lane(fields);
		if (what === "cordoned") lane.cordonedAt ??= at;
		else if (what === "drained") lane.end = { at, kind: "drained", text: "" };
		else if (what === "failed") lane.end = { at, kind: "failed", text: textOf(fields["message"]) ?? "" };
	}

	#seePod(what: string, at: number, fields: RecordedEvent["fields"]): void {
		const pod = this.#pod(fields);
		const end = ends.find((each) => each === what);
		if (what === "waiting" || what === "retrying") {
			const reason = textOf(fields["reason"]) ?? "";
			const text = `${textOf(fields["message"]) ?? ""}${usersText(fields["usedBy"])}`;
			if (pod.open?.kind === "waiting" && pod.open.reason === reason && pod.open.text === text) return;
			close(pod, at);
			pod.open = { kind: "waiting", from: at, reason, text };
		} else if (what === "evicting" && pod.open === undefined) {
			pod.open = { kind: "waiting", from: at, reason: "", text: "" };
		} else if (what === "accepted") {
			this.#wait(pod, at, fields);
			close(pod, at);
			pod.open = { kind: "terminating", from: at, reason: "", text: "" };
		} else if (end) {
			if (pod.open?.kind !== "terminating") this.#wait(pod, at, fields);
			close(pod, at);
			pod.end = { at, kind: end, text: textOf(fields["message"]) ?? "" };
		}
	}

	/** Adds the time that the pod waited before its first event. */
	#wait(pod: OpenPod, at: number, fields: RecordedEvent["fields"]): void {
		const waitedMs = numberOf(fields["waitedMs"]);
		if (waitedMs === undefined) return;
		pod.waitedMs = waitedMs;
		const asked = at - waitedMs;
		const first = firstFrom(pod.spans, pod.open ?? { from: at });
		if (asked >= first) return;
		const early = { kind: "waiting", from: asked, to: first, reason: "", text: "" } as const;
		pod.spans.unshift(early);
	}

	#pod(fields: RecordedEvent["fields"]): OpenPod {
		const { pods } = this.#lane(fields);
		const pod = textOf(fields["pod"]) ?? "";
		const key = podKey(fields);
		const known = pods.get(key) ?? { pod, spans: [], open: undefined, end: undefined, waitedMs: 0 };
		pods.set(key, known);
		return known;
	}

	#lane(fields: RecordedEvent["fields"]): OpenLane {
		const context = textOf(fields["context"]) ?? "";
		const node = textOf(fields["node"]) ?? "";
		const key = `${context} ${node}`;
		const known = this.#lanes.get(key) ?? {
			context,
			node,
			cordonedAt: undefined,
			end: undefined,
			pods: new Map<string, OpenPod>(),
		};
		this.#lanes.set(key, known);
		return known;
	}
}

function close(pod: OpenPod, at: number): void {
	if (pod.open && at > pod.open.from) pod.spans.push({ ...pod.open, to: at });
	pod.open = undefined;
}

function firstFrom(spans: readonly Span[], open: { readonly from: number }): number {
	return spans[0]?.from ?? open.from;
}

function usersText(usedBy: unknown): string {
	const users = listOf(usedBy)
		.filter(isRecord)
		.map((used) => {
			const by = used["own"] === true ? "this run" : (textOf(used["holder"]) ?? textOf(used["account"]));
			const state = textOf(used["state"]) ?? textOf(used["why"]) ?? "not healthy";
			const pod = textOf(used["pod"]) ?? "a pod";
			const where = textOf(used["context"]) ?? "a cluster";
			return `${pod} in ${where} (${state}${by === undefined ? "" : ` by ${by}`})`;
		});
	return users.length === 0 ? "" : `; used by ${users.join(", ")}`;
}
