// Defines what a frame needs besides the facts.
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { Glyphs } from "./glyphs.ts";
import type { ShownObject } from "./shown-object.ts";

export interface FrameOptions {
	readonly columns: number;
	readonly rows: number;
	readonly glyphs: Glyphs;
	/** In ms since the epoch. */
	readonly now: number;
	readonly command: string;
	readonly op: string;
	readonly suggest: SuggestedCommands;
	readonly object?: ShownObject | undefined;
}
