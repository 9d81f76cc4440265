import { describe, expect, test } from "vitest";
import { TerminalTurns } from "../../../plugin/terminal/terminal-turns.ts";

function newTerminal() {
	const turns = new TerminalTurns();
	const seen: string[] = [];
	const write = (text: string): void => turns.write(() => seen.push(text));
	const screen = {
		leave: async () => void seen.push("screen leaves"),
		comeBack: () => void seen.push("screen is back"),
	};
	return { turns, seen, write, screen };
}

describe("TerminalTurns", () => {
	test("keeps what is written until the turn ends, and the screen away", async () => {
		const { turns, seen, write, screen } = newTerminal();
		turns.show(screen);
		write("a");
		const giveBack = await turns.take(() => write("announced"));
		write("b");
		seen.push("asks");
		giveBack();
		write("c");
		expect(seen).toEqual(["a", "screen leaves", "announced", "asks", "b", "screen is back", "c"]);
	});

	test("gives the terminal to one after the other", async () => {
		const { turns } = newTerminal();
		const giveBack = await turns.take();
		let isSecond = false;
		const second = turns.take().then((give) => {
			isSecond = true;
			give();
		});
		await new Promise(setImmediate);
		expect(isSecond).toBe(false);
		giveBack();
		await second;
		expect(turns.isTaken).toBe(false);
	});

	test("brings back no screen that was closed meanwhile, but one that was opened", async () => {
		const { turns, seen, screen } = newTerminal();
		const close = turns.show(screen);
		const giveBack = await turns.take();
		close();
		turns.show({ leave: async () => undefined, comeBack: () => void seen.push("another is there") });
		giveBack();
		expect(seen).toEqual(["screen leaves", "another is there"]);
	});

	test("writes all that waits when the process ends", async () => {
		const { turns, seen, write } = newTerminal();
		await turns.take();
		write("last words");
		turns.flush();
		expect(seen).toEqual(["last words"]);
	});

	const broken = new Error("broken");
	const fail = (): never => {
		throw broken;
	};

	test("goes on with the next one where the screen cannot leave, and where a turn cannot be announced", async () => {
		const { turns, seen, screen } = newTerminal();
		const close = turns.show({ ...screen, leave: () => Promise.reject(broken) });
		const [first, second] = [turns.take(), turns.take().then(fail, () => seen.push("the second one"))];
		await expect(first).rejects.toBe(broken);
		await second;
		close();
		turns.show(screen);
		await expect(turns.take(fail)).rejects.toBe(broken);
		expect(turns.isTaken).toBe(false);
		expect(seen).toEqual(["screen is back", "screen is back", "the second one", "screen leaves", "screen is back"]);
		const giveBack = await turns.take();
		giveBack();
	});

	test("goes on with the next one where a line that waited cannot be written, or the screen cannot come back", async () => {
		const { turns, seen, write, screen } = newTerminal();
		turns.show({ ...screen, comeBack: fail });
		const giveBack = await turns.take();
		turns.write(fail);
		write("written all the same");
		expect(giveBack).toThrow(broken);
		expect(turns.isTaken).toBe(false);
		await turns.take();
		expect(seen).toEqual(["screen leaves", "written all the same", "screen leaves"]);
	});
});
