// A flag as data.

/** `timeout` is a duration where a bare number means seconds, as kubectl's --request-timeout has it. */
export type FlagKind = "text" | "list" | "boolean" | "number" | "duration" | "timeout";

export interface Flag {
	readonly kind: FlagKind;
	/** Of a list: "a,b" is two values (pflag's StringSlice; StringArray without). */
	readonly commas?: boolean;
	readonly describe: string;
	readonly short?: string;
	/** The value of the flag where it stands alone (pflag's NoOptDefVal); booleans have "true". */
	readonly bare?: string;
	readonly default?: string | number | boolean;
	/** Shown in the help in place of the kind. */
	readonly value?: string;
}

export type FlagTable = Readonly<Record<string, Flag>>;
