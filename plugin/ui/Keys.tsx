// What is pressed on the terminal, from Ink, which also has the terminal while a screen is open. It draws nothing itself (frame-writer.ts).
import { useInput } from "ink";
import { keyPresses } from "./key-presses.ts";
import type { KeyPress } from "./steering-keys.ts";

export interface KeysProps {
	/** All that were pressed at once, in their order. */
	readonly onKeys: (keys: readonly KeyPress[]) => void;
}

export function Keys({ onKeys }: KeysProps): null {
	useInput((input, key) => onKeys(keyPresses(input, key)));
	return null;
}
