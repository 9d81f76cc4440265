// Shows an object in YAML, as `kubectl get -o yaml` does.
import { piece, type StyledLine } from "./styled-line.ts";
import { timeOfDay } from "./time-text.ts";

export interface ObjectName {
	readonly kind: "pod" | "node" | "budget";
	/** A context of this run. Undefined: the object may exist in each cluster. */
	readonly context: string | undefined;
	/** Left out for a node. */
	readonly namespace?: string;
	readonly name: string;
}

export interface ShownObject {
	readonly object: ObjectName;
	/** The time of the request, in ms since the epoch. */
	readonly at: number;
	/** Undefined while the object is being read. */
	readonly lines: readonly string[] | undefined;
}

export function objectLines(shown: ShownObject | undefined): readonly StyledLine[] {
	if (!shown) return [[piece("not an object: select a node, a pod or a budget", "dim")]];
	const { object, at, lines } = shown;
	const name = object.namespace === undefined ? object.name : `${object.namespace}/${object.name}`;
	const title = `${object.kind} ${name}${object.context === undefined ? "" : ` in ${object.context}`}, read at ${timeOfDay(at)}`;
	return [[piece(title, "bold")], ...(lines ? lines.map((line) => [piece(line)]) : [[piece("reading it ...", "dim")]])];
}
