// What a frame needs besides the facts: the terminal's size, its signs, the time.
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { Glyphs } from "./glyphs.ts";
import type { ShownObject } from "./shown-object.ts";

export interface FrameOptions {
	readonly columns: number;
	readonly rows: number;
	readonly glyphs: Glyphs;
	/** Milliseconds since the epoch. */
	readonly now: number;
	readonly command: string;
	readonly op: string;
	/** For commands that help. */
	readonly suggest: SuggestedCommands;
	/** That somebody asked for last. */
	readonly object?: ShownObject | undefined;
}
