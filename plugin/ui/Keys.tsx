// Receives key presses from Ink, which owns the terminal's input while a screen is open. It draws nothing.
import { useInput } from "ink";
import { keyPresses } from "./key-presses.ts";
import type { KeyPress } from "./steering-keys.ts";

export interface KeysProps {
	/** All keys of one read, in order. */
	readonly onKeys: (keys: readonly KeyPress[]) => void;
}

export function Keys({ onKeys }: KeysProps): null {
	useInput((input, key) => onKeys(keyPresses(input, key)));
	return null;
}
