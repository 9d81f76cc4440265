/** Whether the value looks like a Kubernetes name, so that completions can print it to a shell. */
export function isName(value: unknown): value is string {
	return typeof value === "string" && /^[a-z0-9][-a-z0-9.]{0,252}$/.test(value);
}
