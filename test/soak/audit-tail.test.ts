import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AuditTail } from "./audit-tail.ts";

let dir = "";
let path = "";
let tail: AuditTail;

beforeEach(() => {
	dir = mkdtempSync(join(tmpdir(), "xpdb-tail-"));
	path = join(dir, "audit.jsonl");
	tail = new AuditTail({ cluster: "c1", path, wanted: ({ namespace }) => namespace === "soak" });
});

afterEach(() => {
	tail.close();
	rmSync(dir, { recursive: true });
});

function lineOf(name: string, namespace = "soak"): string {
	return `${JSON.stringify({
		stage: "ResponseComplete",
		verb: "patch",
		requestURI: "/",
		user: { username: "alice", groups: [] },
		objectRef: { resource: "pods", namespace, name },
		responseStatus: { code: 200 },
		responseObject: {
			kind: "Pod",
			metadata: { name, annotations: { large: "x".repeat(1000) } },
			spec: { large: true },
		},
		requestReceivedTimestamp: "2026-11-20T10:00:00.000000Z",
		stageTimestamp: "2026-11-20T10:00:00.000000Z",
	})}\n`;
}

const names = () => tail.read().map(({ name }) => name);

describe("AuditTail", () => {
	test("reads each line once, also where it was written in pieces", () => {
		expect(names()).toEqual([]);
		const line = lineOf("b");
		writeFileSync(path, lineOf("a") + line.slice(0, 50));
		expect(names()).toEqual(["a"]);
		appendFileSync(path, line.slice(50) + lineOf("c"));
		expect(names()).toEqual(["b", "c"]);
		expect(names()).toEqual([]);
	});

	test("follows a log that was rotated, and loses nothing of the old one", () => {
		writeFileSync(path, lineOf("a"));
		expect(names()).toEqual(["a"]);
		appendFileSync(path, lineOf("b"));
		renameSync(path, join(dir, "audit-1.jsonl"));
		writeFileSync(path, lineOf("c"));
		expect(names()).toEqual(["b", "c"]);
	});

	test("leaves out what is not wanted, and what the oracle does not need", () => {
		writeFileSync(path, lineOf("other", "default") + lineOf("a"));
		const [event, ...more] = tail.read();
		expect(more).toEqual([]);
		expect(JSON.stringify(event)).not.toContain("large");
	});

	test("passes over what a killed API server left half written", () => {
		writeFileSync(path, `${lineOf("a").slice(0, 70)}\n${lineOf("b")}`);
		expect(names()).toEqual(["b"]);
	});
});
