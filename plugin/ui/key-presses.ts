// Translates Ink's key events. Ink reports everything that it reads at once as one event, for example a paste. A Ctrl-C in it must not be
// lost.
import type { Key } from "ink";
import type { KeyPress } from "./steering-keys.ts";

type InkKey = Pick<
	Key,
	"upArrow" | "downArrow" | "pageUp" | "pageDown" | "return" | "escape" | "tab" | "backspace" | "delete" | "ctrl"
>;

export function keyPresses(input: string, key: InkKey): readonly KeyPress[] {
	const characters = Array.from(input);
	return characters.length > 1 ? characters.map(ofCharacter) : [ofKey(input, key)];
}

function ofKey(input: string, key: InkKey): KeyPress {
	const names = [
		[key.upArrow, "up"],
		[key.downArrow, "down"],
		[key.pageUp, "pageUp"],
		[key.pageDown, "pageDown"],
		[key.return, "enter"],
		[key.escape, "escape"],
		[key.tab, "tab"],
		// Some terminals send delete for backspace.
		[key.backspace || key.delete, "backspace"],
	] as const;
	return { input, ctrl: key.ctrl, name: names.find(([isPressed]) => isPressed)?.[1] ?? "" };
}

const named: Readonly<Record<string, KeyPress["name"]>> = {
	"\r": "enter",
	"\n": "enter",
	"\t": "tab",
	"\b": "backspace",
	"\u007f": "backspace",
	"\u001b": "escape",
};

function ofCharacter(character: string): KeyPress {
	const name = named[character];
	if (name) return { input: "", ctrl: false, name };
	const code = character.charCodeAt(0);
	// Ctrl-A is 1.
	return code < 0x20
		? { input: String.fromCharCode(code + 0x60), ctrl: true, name: "" }
		: { input: character, ctrl: false, name: "" };
}
