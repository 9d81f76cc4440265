/** A name that Kubernetes allows: it is printed to a shell. */
export function isName(value: unknown): value is string {
	return typeof value === "string" && /^[a-z0-9][-a-z0-9.]{0,252}$/.test(value);
}
