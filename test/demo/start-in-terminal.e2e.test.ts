// Tests `npm start` on a terminal: the drain on its own screen, with the story before and after it.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { type PseudoTerminal, startInTerminal } from "../support/pseudo-terminal.ts";

describe("npm start on a terminal", { timeout: 180_000 }, () => {
	let temporary: string;
	beforeEach(() => {
		temporary = mkdtempSync(join(tmpdir(), "xpdb-test-"));
	});
	afterEach(() => rmSync(temporary, { recursive: true, force: true }));

	const start = (): PseudoTerminal =>
		startInTerminal(process.execPath, [join(repositoryRoot, "demo", "main.ts")], {
			columns: 120,
			env: { TMPDIR: temporary },
			patienceMs: 90_000,
		});

	test("shows the drain's screen, and tells afterwards what came of it", async () => {
		using terminal = start();
		await terminal.until(() => terminal.screen.isAlternate);
		await terminal.shows("default/db");
		expect((await terminal.ended).exitCode).toBe(0);
		const { screen } = terminal;
		expect(screen.isAlternate).toBe(false);
		expect([...screen.modes]).toEqual(["25"]);
		const text = screen.lines.join("\n");
		expect(text).toContain("Done: 3 nodes drained, 0 not");
		expect(text).toMatch(/never more than 1 of 6 replicas\s+down/);
		// The story writes nothing while the drain has the screen.
		expect(text).not.toContain("healthy: ");
		expect(readdirSync(temporary)).not.toContainEqual(expect.stringMatching(/^xpdb-start-/));
	});

	test("ends with the drain when that is stopped, with the terminal as it was", async () => {
		using terminal = start();
		await terminal.until(() => terminal.screen.isAlternate);
		await terminal.shows("default/db");
		terminal.press("\u0003");
		expect((await terminal.ended).exitCode).toBe(130);
		expect(terminal.screen.isAlternate).toBe(false);
		expect([...terminal.screen.modes]).toEqual(["25"]);
		expect(terminal.screen.lines.join("\n")).toContain("Continue:");
		expect(readdirSync(temporary)).not.toContainEqual(expect.stringMatching(/^xpdb-start-/));
	});
});
