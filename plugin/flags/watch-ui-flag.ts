// Defines the flag that says whether a watch is shown as a screen, for all commands that can watch.
import type { FlagTable } from "./flag.ts";

export const watchUiFlag: FlagTable = {
	ui: {
		kind: "text",
		default: "",
		value: "auto|full|plain|none",
		describe: "With -w. auto: a full screen on a terminal, else plain lines; none: rows only",
	},
};
