// Reads the warnings that an API server sends in HTTP's Warning header, about deprecated APIs and from policies that only warn.

/** Receives a warning of a context's API server. */
export type ServerWarningSink = (context: string, message: string) => void;

const kubernetesCode = "299";

/** Returns the texts of a Warning header, as client-go reads them: `299 - "text"`, separated by commas. */
export function parseWarnings(header: string | undefined): readonly string[] {
	// Node decodes headers as Latin-1, but the API server writes UTF-8.
	const text = Buffer.from(header ?? "", "latin1").toString("utf8");
	return [...text.matchAll(/(\d{3}) \S+ "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/g)]
		.filter(([, code, message]) => code === kubernetesCode && message !== "")
		.map(([, , message = ""]) => message.replaceAll(/\\(.)/g, "$1"));
}

/** Returns a sink that calls `tell` only once for each message of a context. */
export function tellOnce(tell: ServerWarningSink): ServerWarningSink {
	const told = new Set<string>();
	return (context, message) => {
		const key = `${context}\n${message}`;
		if (told.has(key)) return;
		told.add(key);
		tell(context, message);
	};
}
