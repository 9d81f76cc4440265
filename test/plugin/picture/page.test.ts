import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { figureText } from "../../../plugin/picture/budget-figure.ts";
import { html } from "../../../plugin/picture/html.ts";
import { page } from "../../../plugin/picture/page.ts";
import { readRecord } from "../../../plugin/picture/read-record.ts";
import { longestLine } from "../../../plugin/terminal/guarded-streams.ts";
import { drainRecord, recordLines } from "./recorded-run.ts";

async function pageOf(lines: readonly string[]): Promise<string> {
	return page(await readRecord(ReadableStream.from([Buffer.from(`${lines.join("\n")}\n`)]), "run.ndjson"));
}

function wordsOf(text: string): string {
	return text
		.replace(/<style>[^]*?<\/style>|<title>[^<]*<\/title>/g, "")
		.replaceAll(/<[^>]+>/g, " ")
		.replaceAll(/[ \n]+/g, " ");
}

test("the page says in words what its pictures show", async () => {
	const words = wordsOf(await pageOf(drainRecord));
	for (const expected of [
		"kubectl xpdb drain 7f3c2a: failed, 1m07s",
		"2026-01-01 12:00:00 to 2026-01-01 12:01:07 UTC",
		"kubectl xpdb drain n1 n4 --contexts=eu,us",
		"Nodes drained 1 of 2",
		"shop/db used up for 1m02s, never below; at least 2 healthy; 2 evictions; no data for 3s",
		"shop/db-0 gone 12:00:13 replaced 12:01:04 2s",
		"shop/db-1 its end was not seen failed 12:01:06",
		"12:00:04 1m00s shop/db-1 BudgetExhausted waits for &lt;budget&gt; shop/db; used by shop/db-0 in eu",
		"12:00:10 error us: gives no answer: no answer",
		"Continue: kubectl xpdb drain --resume 7f3c2a --contexts=eu,us",
	]) {
		expect(words).toContain(expected);
	}
});

test("the pods of evict, which names no node, have a title that also fits pods of a selector", async () => {
	const pod = { context: "eu", pod: "shop/db-0", uid: "u0" };
	const lines = recordLines([
		[0, { type: "version", schema: "xpdb.events/1.0", command: "evict" }],
		[1, { type: "pod.evicting", ...pod, budgets: [] }],
		[2, { type: "pod.accepted", ...pod, waitedMs: 1_000 }],
		[3, { type: "pod.evicted", ...pod }],
	]);
	expect(wordsOf(await pageOf(lines))).toContain("Named or selected pods 1 pod ");
});

test("what others wrote stays text, and could do nothing if it did not", async () => {
	const attack = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`;
	const text = await pageOf(
		recordLines([
			[
				0,
				{
					type: "version",
					schema: "xpdb.events/1.0",
					command: attack,
					op: attack,
					commandLine: attack,
					agents: { [attack]: attack },
				},
			],
			[
				1,
				{
					type: "pod.waiting",
					context: attack,
					node: attack,
					pod: attack,
					reason: attack,
					message: attack,
					usedBy: [{ pod: attack }],
				},
			],
			[1, { type: "budget.changed", budget: attack, healthy: 1, need: 1 }],
			[2, { type: "pod.failed", context: attack, node: attack, pod: attack, message: attack }],
			[2, { type: "diagnostic", level: attack, context: attack, message: attack }],
			[3, { type: "summary", result: attack, resume: attack, undo: attack }],
		]),
	);
	expect(text).not.toMatch(/<script|<img/);
	expect(text).toContain("&lt;script&gt;");
	expect(text).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
	expect(text).not.toMatch(/https?:|url\(|@import/);
});

test("html`` leaves markup alone and nothing else", () => {
	const inner = html`<b title="${'"'}">${"<i>"}</b>`;
	expect(html`<p>${inner}${[inner]}${1}</p>`.markup).toBe(`<p>${'<b title="&quot;">&lt;i&gt;</b>'.repeat(2)}1</p>`);
	expect(html`${"\u202e"}`.markup).toBe("\\u202e");
});

test("a budget that was never counted with a need has no false number", () => {
	const curve = {
		budget: "a/b",
		to: 5,
		evictions: [],
		points: [{ at: 1, healthy: 2, need: undefined, expected: undefined }],
	};
	expect(figureText(curve)).toBe("suspended, or its pods were not known; 0 evictions");
	const below = { ...curve, points: [{ at: 1, healthy: 1, need: 2, expected: 3 }] };
	expect(figureText(below)).toBe("1 below its need at the lowest; at least 1 healthy; 0 evictions");
});

function bigRecord(pods: number): readonly string[] {
	const each = Array.from({ length: pods }, (_, index) => {
		const pod = {
			context: `c${index % 3}`,
			node: `node-${index % 30}`,
			pod: `shop/cart-7d9f8c6b5-${index}`,
			uid: `uid-${index}`,
		};
		const at = index / 10;
		return [
			[
				at,
				{
					type: "pod.waiting",
					...pod,
					reason: "BudgetExhausted",
					message: `pod ${pod.pod} waits`,
					budget: "shop/cart",
					need: 9,
					healthy: 9 + (index % 2),
				},
			],
			[at + 0.05, { type: "pod.evicting", ...pod, budgets: ["shop/cart"] }],
			[at + 0.06, { type: "pod.accepted", ...pod, waitedMs: 60 }],
			[at + 0.09, { type: "pod.evicted", ...pod }],
		] as const;
	});
	return recordLines([[0, { type: "version", schema: "xpdb.events/1.0", command: "drain" }], ...each.flat()]);
}

test("a page of 5,000 pods is at most 3 MB, in lines that every stream takes", async () => {
	const text = await pageOf(bigRecord(5_000));
	expect(text.match(/<tr><td>shop\/cart/g)).toHaveLength(5_000);
	expect(Buffer.byteLength(text)).toBeLessThan(3_000_000);
	expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(longestLine);
});

test("the golden record of -o json becomes a page", async () => {
	const golden = readFileSync(join(import.meta.dirname, "../output/golden/events.ndjson"), "utf8")
		.trim()
		.split("\n");
	expect(wordsOf(await pageOf(golden))).toContain("kubectl xpdb drain 7f3c2a: ");
});
