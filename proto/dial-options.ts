/**
 * Options for connections to a server whose name has several addresses, for example one of each IP version. Node tries one after the other,
 * and gives each but the last 250 ms. Over a slow line that is too short for any, and if the last one is of an IP version that the network
 * does not have, no connection is ever made. The price is a second where the network loses the packets of an IP version.
 */
export const dialOptions = { autoSelectFamilyAttemptTimeout: 1_000 } as const;

/** Returns an error that names each address that failed. If all do, Node's own error has no message. */
export function explainDialError(error: Error): Error {
	if (!(error instanceof AggregateError) || error.message !== "") return error;
	const causes: readonly unknown[] = error.errors;
	return new Error(causes.map((each) => (each instanceof Error ? each.message : String(each))).join(", "), {
		cause: error,
	});
}
