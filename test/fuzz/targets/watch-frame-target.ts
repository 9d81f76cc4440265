// A target for watches in protobuf: frames of pods, some of them garbled, in chunks that end anywhere.
import fc from "fast-check";
import { FrameSplitter } from "../../../agent/kubernetes/frame-splitter.ts";
import { podFields } from "../../../agent/kubernetes/protobuf-fields.ts";
import { readWatchFrame } from "../../../agent/kubernetes/read-protobuf.ts";
import { parseWatchEvent } from "../../../agent/kubernetes/watch-line.ts";
import { podRecord } from "../../../disruption/budget/pod.ts";
import { encodeEvent, encodeObject, framed } from "../../support/encode-protobuf.ts";
import { attempt } from "../clear-error.ts";
import { demand, type FuzzTarget, syncTarget } from "../fuzz-target.ts";
import { podObjects } from "../seed-objects.ts";
import { applyByteEdits, byteEdits, chunked, chunkPlaces } from "../text-edits.ts";

type Pod = Readonly<Record<string, unknown>>;

const frameOf = (pod: unknown): Uint8Array => encodeEvent("MODIFIED", encodeObject("Pod", pod as Pod, podFields));

export const watchFrameTarget: FuzzTarget = {
	name: "watch-frames",
	reads: "frames of a watch on pods in protobuf",
	share: 4,
	open: () => {
		const input = fc.record({
			pods: fc.array(fc.constantFrom(...podObjects), { minLength: 1, maxLength: 3 }),
			edits: fc.oneof({ weight: 3, arbitrary: byteEdits }, { weight: 1, arbitrary: fc.constant([]) }),
			places: chunkPlaces,
		});
		return syncTarget(input, ({ pods, edits, places }) => {
			const frames = pods.map((pod, index) => (index === 0 ? applyByteEdits(frameOf(pod), edits) : frameOf(pod)));
			const got: Buffer[] = [];
			const splitter = new FrameSplitter((frame) => void got.push(Buffer.from(frame)));
			for (const chunk of chunked(Buffer.concat(frames.map(framed)), places)) splitter.push(chunk);
			demand(!splitter.unfinished, "It takes whole frames for a part");
			demand(got.length === frames.length, "It gave another number of frames");
			for (const [index, frame] of got.entries()) {
				const isGarbled = index === 0 && edits.length > 0;
				const event = attempt(() => readWatchFrame(frame, podFields), [TypeError], "event");
				demand(event !== undefined || isGarbled, "It did not read a whole frame");
				if (!event) continue;
				const read = attempt(() => parseWatchEvent(event), [TypeError], "event");
				if (!read || read.type === "ERROR" || read.type === "BOOKMARK") continue;
				const record = attempt(() => podRecord(read.object), [TypeError], "pod");
				if (isGarbled) continue;
				demand(JSON.stringify(record) === JSON.stringify(podRecord(pods[index])), "It read another pod");
			}
		});
	},
};
