// Defines what a frame needs besides the facts, such as the terminal's size, its glyphs and the time.
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
	/** Builds the suggested commands. */
	readonly suggest: SuggestedCommands;
	/** The object that was requested last. */
	readonly object?: ShownObject | undefined;
}
