// Reads the Warning headers of an API server: deprecated APIs, and policies that only warn.

export type ServerWarningSink = (context: string, message: string) => void;

const kubernetesCode = "299";

/** Reads `299 - "text"`, separated by commas, as client-go does. */
export function parseWarnings(header: string | undefined): readonly string[] {
	// Node decodes headers as Latin-1, but the API server writes UTF-8.
	const text = Buffer.from(header ?? "", "latin1").toString("utf8");
	return [...text.matchAll(/(\d{3}) \S+ "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/g)]
		.filter(([, code, message]) => code === kubernetesCode && message !== "")
		.map(([, , message = ""]) => message.replaceAll(/\\(.)/g, "$1"));
}

export function tellOnce(tell: ServerWarningSink): ServerWarningSink {
	const told = new Set<string>();
	return (context, message) => {
		const key = `${context}\n${message}`;
		if (told.has(key)) return;
		told.add(key);
		tell(context, message);
	};
}
