// The flag that shows a watch as a screen, shared by all commands that can watch.
import type { FlagTable } from "./flag.ts";

export const watchUiFlag: FlagTable = {
	ui: {
		kind: "text",
		default: "",
		value: "auto|full|plain|none",
		describe: "With -w. auto: a full screen on a terminal, else plain lines; none: rows only",
	},
};
