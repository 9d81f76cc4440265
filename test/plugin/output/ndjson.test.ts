import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../plugin/events/events.ts";
import { reasons } from "../../../plugin/events/reason.ts";
import { fitLine, maxLineBytes } from "../../../plugin/output/fit-line.ts";
import { createNdjsonWriter } from "../../../plugin/output/ndjson.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { createValidator, eventProblems, readSchema, strictSchema } from "../../support/json-schema.ts";
import { suggestDefault } from "../../support/suggest-default.ts";
import { eventSamples } from "./event-samples.ts";

function write(events: readonly RunEvent[], { stepMs = 1 }: { readonly stepMs?: number } = {}): string {
	const { stdout, out } = collectStreams();
	let at = 0;
	const writer = createNdjsonWriter({
		stdout,
		command: "drain",
		op: "7f3c2a",
		commandLine: "kubectl xpdb drain n1 --contexts=eu,us",
		by: "alice@laptop",
		suggest: suggestDefault,
		now: () => at,
		wallClock: () => Date.parse("2026-01-01T00:00:00Z") + at,
	});
	for (const event of events) {
		writer(event);
		at += stepMs;
	}
	return out();
}

const [started] = eventSamples["run.started"];
const [summary] = eventSamples.summary;
const types = (output: string): readonly string[] =>
	output
		.trim()
		.split("\n")
		.map((line) => (JSON.parse(line) as { readonly type: string }).type);

describe("createNdjsonWriter()", () => {
	const all: readonly RunEvent[] = Object.values(eventSamples).flat();

	test("writes each kind of event as the schema has it", () => {
		const rest = all.filter(({ type }) => type !== "run.started" && type !== "summary");
		expect(eventProblems(write([...eventSamples["run.started"], ...rest, summary]))).toEqual([]);
	});

	test("writes the published lines", () => {
		const rest = all.filter(({ type }) => type !== "run.started" && type !== "summary");
		const golden = readFileSync(join(import.meta.dirname, "golden/events.ndjson"), "utf8");
		expect(write([started, ...rest, summary]).replace(/"client":"[^"]+"/, '"client":"v0.0.0"')).toBe(golden);
	});

	test("begins with the version, whatever comes first", () => {
		const [warning] = eventSamples.diagnostic;
		expect(types(write([warning, started, summary]))).toEqual(["version", "diagnostic", "run.started", "summary"]);
		expect(types(write([summary]))).toEqual(["version", "summary"]);
		expect(types(write([warning, summary]))).toEqual(["version", "diagnostic", "summary"]);
	});

	test("tells a wait again when it changes, or after a minute", () => {
		const [waiting] = eventSamples["pod.waiting"];
		const changed = {
			...waiting,
			healthy: 1,
			message: "budget shop/db has no disruption left: 1 of 3 healthy, 2 required",
		};
		const waits = (output: string): number => types(output).filter((type) => type === "pod.waiting").length;
		expect(waits(write([started, waiting, waiting, changed, changed, summary]))).toBe(2);
		expect(waits(write([started, waiting, waiting, waiting, summary], { stepMs: 60_000 }))).toBe(3);
	});

	test("tells of one of the pods that wait that others use the budget up, at most every five seconds", () => {
		const [waiting] = eventSamples["pod.waiting"];
		const second = { ...waiting, pod: "db-9" };
		const other = [{ cluster: "us", namespace: "shop", pod: "db-4", why: "Terminating" }];
		const events = [
			started,
			waiting,
			second,
			waiting,
			{ ...waiting, usedBy: other },
			{ ...second, usedBy: other },
			waiting,
		];
		const told = (stepMs: number): number =>
			types(write([...events, summary], { stepMs })).filter((type) => type === "pod.waiting").length;
		expect(told(1)).toBe(2);
		expect(told(5_000)).toBe(4);
	});

	test("says that nothing is left of a budget that expects no pods, however many there are", () => {
		const [waiting] = eventSamples["pod.waiting"];
		const output = write([started, { ...waiting, need: 0, healthy: 2, expected: 0 }, summary]);
		expect(JSON.parse(output.split("\n")[2] ?? "")).toMatchObject({ type: "pod.waiting", left: 0 });
	});

	test("does not repeat at the end what was said before, as kubectl does", () => {
		const events = [started, ...eventSamples["run.failed"], ...eventSamples["nodes.pending"], summary];
		expect(types(write(events))).toEqual(["version", "run.started", "summary"]);
	});
});

describe("fitLine()", () => {
	test("leaves alone what fits", () => {
		expect(fitLine({ a: ["b"] })).toBe('{"a":["b"]}');
	});

	test("cuts what is longest until the line is below 64 KiB, and says so", () => {
		const drained = Array.from({ length: 5_000 }, (_, index) => `production-europe-west/node-${index}`);
		const {
			truncated,
			drained: kept,
			exitCode,
		} = JSON.parse(fitLine({ type: "summary", exitCode: 0, drained })) as {
			readonly truncated: boolean;
			readonly drained: readonly string[];
			readonly exitCode: number;
		};
		expect({ truncated, exitCode }).toEqual({ truncated: true, exitCode: 0 });
		expect(kept).toEqual(drained.slice(0, kept.length));
		expect(kept.length).toBeGreaterThan(500);
	});

	test("fits anything made of texts and lists", () => {
		const long = fc.string({ unit: "grapheme", maxLength: 300 }).map((text) => text.repeat(300));
		const values = fc.oneof(long, fc.array(fc.record({ message: long })), fc.array(long));
		fc.assert(
			fc.property(fc.dictionary(fc.constantFrom("a", "b", "c", "d", "e"), values), (fields) => {
				expect(Buffer.byteLength(fitLine(fields))).toBeLessThan(maxLineBytes);
			}),
			{ numRuns: 50 },
		);
	});
});

describe("schemas/events-v1.json", () => {
	test("has the same closed list of reasons as the code", () => {
		const { reason } = readSchema("events-v1")["$defs"] as { readonly reason: { readonly enum: readonly string[] } };
		expect(reason.enum.toSorted()).toEqual(reasons.toSorted());
	});

	test("knows each type that is published as one type, and not as a later one too", () => {
		const rest = Object.values(eventSamples)
			.flat()
			.filter(({ type }) => type !== "run.started" && type !== "summary");
		const forReaders = createValidator(readSchema("events-v1"));
		for (const line of write([started, ...rest, summary])
			.trim()
			.split("\n")) {
			expect(forReaders(JSON.parse(line)), line).toEqual([]);
		}
	});

	test("gives readers room for what later versions add; the strict form of the tests does not", () => {
		const line = { ts: "2026-01-01T00:00:00.000Z", seq: 3 };
		const later = [
			{ ...line, type: "lease.handedOver", cluster: "us" },
			{ ...line, type: "context.recovered", context: "us", cluster: "us", ms: 1, since: "noon" },
		];
		const [forReaders, strict] = [readSchema("events-v1"), strictSchema("events-v1")].map(createValidator);
		for (const event of later) {
			expect(forReaders?.(event)).toEqual([]);
			expect(strict?.(event)).not.toEqual([]);
		}
		expect(forReaders?.({ ...line, type: "context.recovered", ms: 1 })).not.toEqual([]);
	});
});
