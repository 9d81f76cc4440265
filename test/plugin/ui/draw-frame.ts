// Draws the frame of a drain as lines without colours.
import { drainFrame } from "../../../plugin/ui/drain-frame.ts";
import { asciiGlyphs, unicodeGlyphs } from "../../../plugin/ui/glyphs.ts";
import type { RunFacts } from "../../../plugin/ui/run-facts.ts";
import { lineText } from "../../../plugin/ui/styled-line.ts";
import { firstView, type ViewState } from "../../../plugin/ui/view-state.ts";
import { suggestDefault } from "../../support/suggest-default.ts";
import { sampleFacts, startedAt } from "./sample-run.ts";

export interface Look {
	readonly columns: number;
	readonly rows: number;
	readonly ascii?: boolean;
	readonly view?: Partial<ViewState>;
	readonly facts?: RunFacts;
	readonly second?: number;
}

export function drawFrame({
	columns,
	rows,
	ascii = false,
	view = {},
	facts = sampleFacts(),
	second = 161,
}: Look): readonly string[] {
	const lines = drainFrame(
		facts,
		{ ...firstView, ...view },
		{
			columns,
			rows,
			glyphs: ascii ? asciiGlyphs : unicodeGlyphs,
			now: startedAt + second * 1_000,
			command: "drain",
			op: "7f3c2a",
			suggest: suggestDefault,
		},
	);
	// The time of day depends on the machine's time zone.
	return lines.map((line) =>
		lineText(line)
			.replaceAll(/\d\d:\d\d:\d\d/g, "hh:mm:ss")
			.trimEnd(),
	);
}
