// Defines a flag as data.

/** `timeout` is a duration in which a bare number means seconds, as in kubectl's --request-timeout. */
export type FlagKind = "text" | "list" | "boolean" | "number" | "duration" | "timeout";

export interface Flag {
	readonly kind: FlagKind;
	/** For a list: whether "a,b" is two values (pflag's StringSlice) or one (StringArray). */
	readonly commas?: boolean;
	readonly describe: string;
	readonly short?: string;
	/** The value if the flag is given without one (pflag's NoOptDefVal). Booleans have "true". */
	readonly bare?: string;
	readonly default?: string | number | boolean;
	/** Shown in the help instead of the kind. Completion offers the parts of a text such as "none|server". */
	readonly value?: string;
}

export type FlagTable = Readonly<Record<string, Flag>>;
