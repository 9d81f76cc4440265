// A frame on the terminal, and the keys that come from it. Ink finds out what of the frame has changed; what is in it is drain-frame.ts's matter.
import { Box, Text, type TextProps, useInput } from "ink";
import { memo, type ReactNode, useSyncExternalStore } from "react";
import { keyPresses } from "./key-presses.ts";
import type { KeyPress } from "./steering-keys.ts";
import { isSameLine, type StyledLine, type Tone } from "./styled-line.ts";

export interface FrameSource {
	/** The lines to show; the same object until something has changed. */
	readonly frame: () => readonly StyledLine[];
	readonly subscribe: (changed: () => void) => () => void;
	readonly press: (key: KeyPress) => void;
	readonly hasColour: boolean;
}

/** The eight colours of every terminal, so that themes and contrast settings work. */
const looks: Readonly<Record<Tone, Pick<TextProps, "color" | "bold" | "dimColor">>> = {
	plain: {},
	dim: { dimColor: true },
	bold: { bold: true },
	good: { color: "green" },
	warn: { color: "yellow" },
	bad: { color: "red", bold: true },
	accent: { color: "cyan" },
};

export function Screen({ source }: { readonly source: FrameSource }): ReactNode {
	const lines = useSyncExternalStore(source.subscribe, source.frame);
	useInput((input, key) => {
		for (const press of keyPresses(input, key)) source.press(press);
	});
	return (
		<Box flexDirection="column">
			{lines.map((line, index) => (
				// Rows have no identity of their own: what stands in one place is drawn anew there.
				<Row key={index} line={line} hasColour={source.hasColour} />
			))}
		</Box>
	);
}

interface RowProps {
	readonly line: StyledLine;
	readonly hasColour: boolean;
}

const Row = memo(
	({ line, hasColour }: RowProps): ReactNode => (
		<Text wrap="truncate">
			{line.length === 0
				? " "
				: line.map(({ text, tone }, index) => (
						<Text key={index} {...(hasColour ? looks[tone] : {})}>
							{text}
						</Text>
					))}
		</Text>
	),
	(before, after) => before.hasColour === after.hasColour && isSameLine(before.line, after.line),
);
Row.displayName = "Row";
