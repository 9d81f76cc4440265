// Parses one event of a watch strictly: a line of JSON, or what read-protobuf.ts makes of a frame.
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import { isResourceVersion } from "../../disruption/resource-version.ts";

export type WatchLine =
	| {
			readonly type: "ADDED" | "MODIFIED" | "DELETED";
			readonly object: unknown;
			readonly resourceVersion: string;
	  }
	/** `initialEventsEnd`: the events before this one were the whole list. */
	| { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
	| { readonly type: "ERROR"; readonly code: number; readonly message: string };

/** Throws TypeError on anything that is not a watch event with a version. */
export function parseWatchLine(line: string): WatchLine {
	let event: unknown;
	try {
		event = JSON.parse(line);
	} catch {
		throw new TypeError("an event is not JSON");
	}
	return parseWatchEvent(event);
}

/** Throws TypeError on anything that is not a watch event with a version. */
export function parseWatchEvent(event: unknown): WatchLine {
	const object = isRecord(event) ? event["object"] : undefined;
	if (!isRecord(event) || !isRecord(object)) throw new TypeError("an event has no object");
	const { type } = event;
	if (type === "ERROR") {
		const { code, message } = object;
		return {
			type,
			code: typeof code === "number" && Number.isInteger(code) ? code : 0,
			message:
				typeof message === "string" && message.trim() !== "" ? message.slice(0, 500) : "an error without a message",
		};
	}
	const metadata = object["metadata"];
	const resourceVersion = isRecord(metadata) ? metadata["resourceVersion"] : undefined;
	if (!isRecord(metadata) || typeof resourceVersion !== "string" || !isResourceVersion(resourceVersion)) {
		throw new TypeError(`an event of type ${quote(type)} has no resourceVersion`);
	}
	if (type === "BOOKMARK") {
		const annotations = metadata["annotations"];
		const end = isRecord(annotations) && annotations["k8s.io/initial-events-end"] === "true";
		return { type, resourceVersion, initialEventsEnd: end };
	}
	if (type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") {
		throw new TypeError(`an event has the unknown type ${quote(type)}`);
	}
	return { type, object, resourceVersion };
}
