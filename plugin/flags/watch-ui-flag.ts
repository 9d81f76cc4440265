// Whether a watch is drawn as a screen: the same for every command that has one.
import type { FlagTable } from "./flag.ts";

export const watchUiFlag: FlagTable = {
	ui: {
		kind: "text",
		default: "",
		value: "auto|full|plain|none",
		describe: "With -w. auto: a full screen on a terminal, else plain lines; none: rows only",
	},
};
