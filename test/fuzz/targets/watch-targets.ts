// Targets for watch streams: lines of events in chunks that end anywhere, some of them garbled.
import fc from "fast-check";
import { createPodProjection } from "../../../agent/cluster-api/pod-projection.ts";
import { objectMeta } from "../../../agent/kubernetes/kubernetes-objects.ts";
import { startWatch } from "../../../agent/kubernetes/watch.ts";
import { parseWatchLine } from "../../../agent/kubernetes/watch-line.ts";
import type { Clock } from "../../../agent/process/clock.ts";
import { PodStore } from "../../../agent/views/pod-view.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import { isResourceVersion } from "../../../disruption/resource-version.ts";
import { LineSplitter } from "../../../proto/line-splitter.ts";
import { createAnsweringConnection } from "../answering-connection.ts";
import { attempt, demandClearText } from "../clear-error.ts";
import { asyncTarget, demand, type FuzzTarget, syncTarget } from "../fuzz-target.ts";
import { applyEdits, jsonEdits, jsonOf } from "../json-edits.ts";
import type { Json } from "../odd-values.ts";
import { podObject } from "../seed-objects.ts";
import { chunked, chunkPlaces, editedText } from "../text-edits.ts";

const splitterTarget: FuzzTarget = {
	name: "lines",
	reads: "bytes in chunks that end anywhere, as lines",
	share: 2,
	open: () => {
		const text = fc.oneof(
			fc
				.array(fc.constantFrom("a", "", "ü😀", "{}", "\r", "x".repeat(300)), { maxLength: 8 })
				.map((lines) => lines.join("\n")),
			fc.string({ unit: "binary", maxLength: 40 }),
		);
		return syncTarget(fc.tuple(text, fc.boolean(), chunkPlaces), ([lines, ends, places]) => {
			const bytes = Buffer.from(ends ? `${lines}\n` : lines, "utf8");
			const got: string[] = [];
			const splitter = new LineSplitter((line) => void got.push(line));
			for (const chunk of chunked(bytes, places)) splitter.push(chunk);
			const whole = bytes.toString("utf8").split("\n");
			const rest = whole.pop() ?? "";
			demand(JSON.stringify(got) === JSON.stringify(whole), "The lines are not those that were sent");
			demand(splitter.unfinished === (rest !== ""), "It takes half a line for a whole one");
		});
	},
};

type EventKind = "add" | "modify" | "delete" | "bookmark" | "end" | "error" | "old";

interface WatchEventInput {
	readonly kind: EventKind;
	readonly pod: number;
	readonly ready: boolean;
	readonly edits: Parameters<typeof applyEdits>[1];
}

const event: fc.Arbitrary<WatchEventInput> = fc.record({
	kind: fc.constantFrom<EventKind[]>("add", "add", "modify", "modify", "delete", "bookmark", "end", "error", "old"),
	pod: fc.nat(3),
	ready: fc.boolean(),
	edits: fc.oneof({ weight: 8, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: jsonEdits }),
});

function lineOf({ kind, pod, ready, edits }: WatchEventInput, index: number): string {
	const resourceVersion = String(kind === "old" ? 50 : 200 + index);
	const metadata = { resourceVersion };
	const named = podObject(`db-${pod}`, { ready });
	const object = { ...named, metadata: { ...named.metadata, resourceVersion } };
	const whole = ((): object => {
		switch (kind) {
			case "bookmark":
				return { type: "BOOKMARK", object: { kind: "Pod", metadata } };
			case "end":
				return {
					type: "BOOKMARK",
					object: { metadata: { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } } },
				};
			case "error":
				return {
					type: "ERROR",
					object: { kind: "Status", message: "too old resource version", code: index % 2 ? 410 : 500 },
				};
			case "delete":
				return { type: "DELETED", object };
			case "modify":
				return { type: "MODIFIED", object };
			case "add":
			case "old":
				return { type: "ADDED", object };
		}
	})();
	return edits.length === 0 ? JSON.stringify(whole) : jsonOf(applyEdits(structuredClone(whole) as Json, edits));
}

/** Reads the stream in the simplest way, up to the first unreadable line. */
class Model {
	readonly pods = new Map<string, PodRecord>();
	version = "";
	isListed = false;
	isOver = false;
	/** By UID. A pod that is deleted while the list is sent is not part of the list. */
	readonly #first = new Map<string, PodRecord>();
	readonly #project = createPodProjection();

	take(line: string): void {
		if (this.isOver) return;
		try {
			this.#read(JSON.parse(line) as Record<string, unknown>);
		} catch {
			this.isOver = true;
		}
	}

	#read({ type, object }: Record<string, unknown>): void {
		const { metadata } = object as { metadata: Record<string, unknown> };
		const version = metadata?.["resourceVersion"];
		if (type === "ERROR" || typeof version !== "string" || !isResourceVersion(version)) throw new Error("over");
		if (type === "BOOKMARK") {
			const annotations = metadata["annotations"] as Record<string, unknown> | undefined;
			const isEnd = annotations?.["k8s.io/initial-events-end"] === "true";
			if (!this.isListed && isEnd) {
				for (const pod of this.#first.values()) this.#put(pod);
				this.isListed = true;
				this.version = version;
			} else if (this.isListed) this.#advance(version);
			return;
		}
		if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") throw new Error("over");
		if (!this.isListed) {
			const { uid } = objectMeta(object);
			if (type === "DELETED") this.#first.delete(uid);
			else this.#first.set(uid, this.#project(object));
			return;
		}
		const pod = this.#isBehind(version) ? undefined : this.#project(object);
		const before = this.version;
		this.#advance(version);
		if (!pod || this.isOver || version === before) return;
		if (type === "DELETED") this.pods.delete(pod.uid);
		else this.#put(pod);
	}

	/** Keeps the later of two pods with the same name or the same UID. */
	#put(pod: PodRecord): void {
		for (const [uid, other] of this.pods) {
			if (other.name === pod.name && other.namespace === pod.namespace) this.pods.delete(uid);
		}
		this.pods.set(pod.uid, pod);
	}

	#isBehind(version: string): boolean {
		return this.isListed && BigInt(version) < BigInt(this.version);
	}

	#advance(version: string): void {
		if (this.#isBehind(version)) {
			// If the versions go back, nothing seen before is valid.
			this.pods.clear();
			this.version = "";
			throw new Error("over");
		}
		this.version = version;
	}
}

const clock: Clock = { now: () => 0, after: () => () => undefined, wallSeconds: () => 0 };

const watchTarget: FuzzTarget = {
	name: "watch",
	reads: "watch streams: events out of order, garbled, cut off, in any chunks",
	share: 0.5,
	open: () => {
		const input = fc.record({
			events: fc.array(event, { maxLength: 8 }),
			places: chunkPlaces,
			cut: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(40) }),
		});
		return asyncTarget(input, async ({ events, places, cut }) => {
			const lines = events.map(lineOf);
			const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""), "utf8");
			const sent = bytes.subarray(0, bytes.length - Math.min(cut, bytes.length));
			const warnings: string[] = [];
			const store = new PodStore({ clock });
			let streams = 0;
			const watch = startWatch({
				connection: createAnsweringConnection({
					answer: () => ({ status: 200, body: { metadata: { resourceVersion: "100" }, items: [] } }),
					stream: () => (streams++ === 0 ? chunked(sent, places) : undefined),
				}),
				clock,
				random: () => 0.5,
				resource: { name: "pods", path: "/api/v1/pods", resource: "pods", group: "" },
				project: createPodProjection(),
				sink: store,
				warn: (message) => void warnings.push(message),
			});
			await new Promise(setImmediate);
			await new Promise(setImmediate);
			watch.close();
			for (const warning of warnings) demandClearText(warning, /pods/);
			const model = new Model();
			for (const line of sent.toString("utf8").split("\n").slice(0, -1)) model.take(line);
			if (!model.isListed) {
				demand(!store.synced && !store.live, "It takes a part of a list for the whole");
				return;
			}
			demand(
				store.resourceVersion === model.version,
				`It is at ${store.resourceVersion}, the stream was at ${model.version}`,
			);
			const shown = [...store.pods("shop")].map((pod) => JSON.stringify(pod)).toSorted();
			const right = [...model.pods.values()]
				.filter(({ namespace }) => namespace === "shop")
				.map((pod) => JSON.stringify(pod));
			demand(
				JSON.stringify(shown) === JSON.stringify(right.toSorted()),
				`It shows ${shown.join()} for ${right.join()}`,
			);
		});
	},
};

const watchLineTarget: FuzzTarget = {
	name: "watch-line",
	reads: "single lines of a watch",
	share: 1,
	open: () => {
		const kinds: EventKind[] = ["add", "delete", "bookmark", "end", "error"];
		const seeds = kinds.map((kind) => lineOf({ kind, pod: 0, ready: true, edits: [] }, 1));
		const whole = fc
			.tuple(fc.constantFrom(...seeds), jsonEdits)
			.map(([seed, edits]) => jsonOf(applyEdits(JSON.parse(seed) as Json, edits)));
		return syncTarget(fc.oneof(whole, editedText(seeds, ['"', "{", "}", "null", ":", "\\u0000", "1e999"])), (line) => {
			const read = attempt(() => parseWatchLine(line), [TypeError], "event");
			if (!read) return;
			if (read.type === "ERROR") {
				demand(read.message !== "" && Number.isFinite(read.code), "It took an error that says nothing");
				return;
			}
			demand(isResourceVersion(read.resourceVersion), "It took a version that cannot be ordered");
			const { type, object } = JSON.parse(line) as {
				type: string;
				object: { metadata: { annotations?: Record<string, unknown> } };
			};
			demand(type === read.type, "It took another type");
			if (read.type !== "BOOKMARK") return;
			const isEnd = object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";
			demand(read.initialEventsEnd === isEnd, "It took a part of a list for the whole");
		});
	},
};

export const watchTargets: readonly FuzzTarget[] = [splitterTarget, watchLineTarget, watchTarget];
