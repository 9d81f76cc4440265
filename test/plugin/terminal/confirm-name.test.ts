import { describe, expect, test } from "vitest";
import { confirmName } from "../../../plugin/terminal/confirm-name.ts";
import { UsageError } from "../../../plugin/terminal/errors.ts";
import { collectStreams } from "../../support/collected-streams.ts";

function asked(given: string, answers?: readonly string[]) {
	const streams = collectStreams(answers);
	const signal = new AbortController().signal;
	const answer = confirmName({ name: "db", given, flag: "--confirm=db", summary: ["eu: held"], signal }, streams);
	return { streams, answer };
}

describe("confirmName()", () => {
	test("goes on for the very name, typed or given, after it has said what would happen", async () => {
		const { streams, answer } = asked("", ["db"]);
		expect(await answer).toBe(true);
		expect(streams.err()).toBe("eu: held\nType db to continue: ");
		expect(await asked("db").answer).toBe(true);
	});

	test("does not go on for a yes, for another name or for nothing", async () => {
		for (const typed of [["y"], ["yes"], ["web"], [""], []]) expect(await asked("", typed).answer).toBe(false);
	});

	test("refuses another name in the flag, and a question that would reach nobody", async () => {
		await expect(asked("web", ["db"]).answer).rejects.toThrow('--confirm names "web", and it is about "db"');
		await expect(asked("").answer).rejects.toBeInstanceOf(UsageError);
		await expect(asked("").answer).rejects.toMatchObject({ hint: "Use --confirm=db" });
	});
});
