// Reads method and path from the head of an HTTP/1 request. Nothing else of the head is used.

export interface HttpRequest {
	readonly kind: "request";
	readonly method: string;
	/** Without a query. */
	readonly path: string;
}

/** The maximum length of a head. Kubelets and Prometheus send some 300 bytes. */
export const longestHead = 8 * 1024;

/** `tooLong`: the head has reached its maximum length without an end. */
export type ReadHttpRequest =
	| HttpRequest
	| { readonly kind: "incomplete" }
	| { readonly kind: "garbled" }
	| { readonly kind: "tooLong" };

/** `bytes` is everything that has arrived so far. */
export function readHttpRequest(bytes: Buffer): ReadHttpRequest {
	const end = bytes.subarray(0, longestHead).indexOf("\r\n\r\n");
	// Data that does not start with a method is refused without waiting for the end of the head.
	const [line = ""] = bytes.toString("latin1", 0, end < 0 ? longestHead : end).split("\r\n", 1);
	if (!/^[A-Z]{0,20}( |$)/.test(line)) return { kind: "garbled" };
	if (end < 0) return { kind: bytes.length < longestHead ? "incomplete" : "tooLong" };
	const [, method, path] = /^([A-Z]{1,20}) (\/[\x21-\x7e]*) HTTP\/1\.[01]$/.exec(line) ?? [];
	if (method === undefined || path === undefined) return { kind: "garbled" };
	return { kind: "request", method, path: path.split("?", 1)[0] ?? "" };
}
