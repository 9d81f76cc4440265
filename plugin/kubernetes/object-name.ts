/** Whether the value looks like a name that Kubernetes allows. Names are printed to a shell. */
export function isName(value: unknown): value is string {
	return typeof value === "string" && /^[a-z0-9][-a-z0-9.]{0,252}$/.test(value);
}
