// Puts a call around each operand of an `await` in the driven code when it is loaded, so that a run can stop a process there. Only the
// threads that explore load the code in this way. The shipped code contains none of it.
import { AsyncLocalStorage } from "node:async_hooks";
import { globSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isNode, lineOf, parseSource, walk } from "../architecture/syntax-tree.ts";
import type { StoppableProcess } from "./await-stops.ts";

/** The process whose code is running. */
export const running = new AsyncLocalStorage<StoppableProcess>();

/** By URL: the sources with a stop at every await. They are made once and handed to each thread. */
export type AwaitPoints = ReadonlyMap<string, string>;

const root = fileURLToPath(new URL("../../", import.meta.url));
/** The folders that the exploration drives. */
const drivenFolders = ["disruption", "agent/leases", "agent/views", "plugin/drain", "plugin/evictions", "plugin/fleet"];

declare global {
	var awaitPoint: (<T>(value: T, place: string) => T | Promise<Awaited<T>>) | undefined;
}

export function findAwaitPoints(): AwaitPoints {
	const files = drivenFolders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }));
	const entries = files.flatMap((file): [string, string][] => {
		const text = readFileSync(join(root, file), "utf8");
		return /\bawait\b/.test(text) ? [[pathToFileURL(join(root, file)).href, withAwaitPoints(file, text)]] : [];
	});
	return new Map(entries);
}

/** The text of the file with `awaitPoint(operand, "file:line")` in place of the operand of each await. */
export function withAwaitPoints(file: string, text: string): string {
	const edits: { readonly at: number; readonly text: string }[] = [];
	walk(parseSource(file, text), (node) => {
		const { argument } = node as { readonly argument?: unknown };
		if (node.type === "AwaitExpression" && isNode(argument)) {
			const place = JSON.stringify(`${file}:${lineOf(text, node)}`);
			edits.push({ at: argument.start, text: "globalThis.awaitPoint(" }, { at: argument.end, text: `, ${place})` });
		}
		return undefined;
	});
	return edits
		.toSorted((a, b) => b.at - a.at)
		.reduce((code, edit) => code.slice(0, edit.at) + edit.text + code.slice(edit.at), text);
}

/** From now on this thread loads code that can stop at awaits. The files of a mutant get their points here. */
export function loadAwaitPoints(points: AwaitPoints, mutated: ReadonlyMap<string, string> = new Map()): void {
	globalThis.awaitPoint = awaitPoint;
	const sources = new Map(points);
	for (const [file, text] of mutated) {
		const url = pathToFileURL(join(root, file)).href;
		if (points.has(url)) sources.set(url, withAwaitPoints(file, text));
	}
	registerHooks({
		load: (url, context, nextLoad) => {
			const source = sources.get(url);
			return source === undefined
				? nextLoad(url, context)
				: { format: "module-typescript", source, shortCircuit: true };
		},
	});
}

function awaitPoint<T>(value: T, place: string): T | Promise<Awaited<T>> {
	const process = running.getStore();
	const stops = process?.stops;
	if (!process || !stops) return value;
	const stop = stops.findStop(process, place);
	return stop ? afterStop(value, () => stops.stop(process, stop)) : value;
}

/** The process stops when the awaited value is there, and before it continues with it. */
async function afterStop<T>(value: T, stop: () => Promise<void>): Promise<Awaited<T>> {
	try {
		return await value;
	} finally {
		await stop();
	}
}
