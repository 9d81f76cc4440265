import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { page } from "../../../plugin/picture/page.ts";
import { readRecord } from "../../../plugin/picture/read-record.ts";
import { type BrowserPage, chromiumProgram, openBrowser } from "../../support/chromium.ts";
import { drainRecord, longRecord } from "./recorded-run.ts";

const looks = [800, 1_400].flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ width, scheme })));

interface Drawn {
	readonly name: string;
	readonly width: number;
	readonly height: number;
	readonly stroke: string;
}

/** Each picture: its name, the width of its lines, its height, and the colour of its first line. */
const drawings = `[...document.querySelectorAll(".pods tr svg, .curve svg")].map((svg) => {
	const name = svg.closest("tr")?.cells[0].textContent ?? svg.getAttribute("aria-label");
	const boxes = [...svg.querySelectorAll("path")].map((path) => path.getBoundingClientRect());
	const first = svg.querySelector("path");
	return {
		name,
		width: Math.max(0, ...boxes.map(({ width }) => width)),
		height: svg.getBoundingClientRect().height,
		stroke: first ? getComputedStyle(first).stroke : "",
	};
})`;

/** Texts that overlap another text or leave the window. */
const misplaced = `(() => {
	const texts = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		if (node.textContent.trim() === "" || node.parentElement.closest("svg")) continue;
		const range = document.createRange();
		range.selectNodeContents(node);
		for (const { left, right, top, bottom, width } of range.getClientRects())
			if (width > 0) texts.push({ text: node.textContent.trim(), left, right, top, bottom });
	}
	const isOut = ({ left, right }) => left < 0 || right > document.documentElement.clientWidth;
	const overlaps = (a, b) =>
		Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
	return texts
		.filter((each, index) => isOut(each) || texts.slice(index + 1, index + 40).some((other) => overlaps(each, other)))
		.map(({ text }) => text);
})()`;

const contrast = `(() => {
	const shade = (colour) => {
		const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
			const share = part / 255;
			return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
		});
		return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
	};
	const paper = shade(getComputedStyle(document.body).backgroundColor);
	const ratio = (element) => {
		const ink = shade(getComputedStyle(element).color);
		return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
	};
	return Math.min(...[...document.querySelectorAll("body *:not(svg *)")].map(ratio));
})()`;

describe.skipIf(chromiumProgram === undefined)("the page of a run, in Chromium", () => {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-page-"));
	let browser: BrowserPage;
	beforeAll(async () => {
		browser = await openBrowser(chromiumProgram ?? "");
	});
	afterAll(async () => {
		await browser[Symbol.asyncDispose]();
		rmSync(folder, { recursive: true });
	});

	async function open(lines: readonly string[]): Promise<string> {
		const file = join(folder, "run.html");
		const record = ReadableStream.from([Buffer.from(`${lines.join("\n")}\n`)]);
		writeFileSync(file, page(await readRecord(record, "run.ndjson")));
		const url = pathToFileURL(file).href;
		await browser.open(url);
		return url;
	}

	async function look({ width, scheme }: (typeof looks)[number]): Promise<void> {
		const size = { width, height: 1_000, deviceScaleFactor: 1, mobile: false };
		await browser.send("Emulation.setDeviceMetricsOverride", size);
		const features = [{ name: "prefers-color-scheme", value: scheme }];
		await browser.send("Emulation.setEmulatedMedia", { media: "screen", features });
	}

	test("loads nothing but itself, runs nothing, and nobody complains", async () => {
		const before = browser.requests.length;
		const url = await open(drainRecord);
		expect(browser.requests.slice(before)).toEqual([url]);
		expect(
			await browser.evaluate("document.scripts.length + document.querySelectorAll('link, img, iframe').length"),
		).toBe(0);
		expect(browser.complaints).toEqual([]);
	});

	test.each(looks)("draws every pod and every budget at $width px, $scheme", async (each) => {
		await look(each);
		await open(drainRecord);
		const drawn = await browser.evaluate<readonly Drawn[]>(drawings);
		expect(drawn.map(({ name }) => name)).toEqual([
			expect.stringMatching(/^shop\/db: used up/),
			"shop/db-0",
			expect.stringMatching(/^shop\/db-1/),
		]);
		for (const { name, width, height, stroke } of drawn) {
			expect(width, name).toBeGreaterThan(10);
			expect(height, name).toBeGreaterThan(10);
			expect(stroke, name).toMatch(/^rgb/);
		}
	});

	test.each(looks)("has each text in its place at $width px, $scheme, however long names are", async (each) => {
		await look(each);
		for (const record of [drainRecord, longRecord]) {
			await open(record);
			expect(await browser.evaluate<readonly string[]>(misplaced)).toEqual([]);
			expect(await browser.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(each.width);
			// WCAG requires this contrast for text.
			expect(await browser.evaluate<number>(contrast)).toBeGreaterThan(4.5);
		}
	});

	test("is dark where dark is asked for", async () => {
		const papers: string[] = [];
		for (const each of looks.slice(0, 2)) {
			await look(each);
			papers.push(await browser.evaluate("getComputedStyle(document.body).backgroundColor"));
		}
		expect(papers).toEqual(["rgb(255, 255, 255)", "rgb(22, 24, 27)"]);
	});

	test("prints to pages that are white and hold all of it", async () => {
		await open(longRecord);
		await browser.send("Emulation.setEmulatedMedia", {
			media: "print",
			features: [{ name: "prefers-color-scheme", value: "dark" }],
		});
		expect(await browser.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
		const { data } = await browser.send<{ data: string }>("Page.printToPDF", { paperWidth: 8.27, paperHeight: 11.69 });
		const paper = Buffer.from(data, "base64").toString("latin1");
		expect(paper).toMatch(/^%PDF-/);
		expect(paper.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(1);
	});
});
