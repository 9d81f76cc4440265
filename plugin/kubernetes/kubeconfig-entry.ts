// The content of a named entry in a kubeconfig. It is untrusted data and is read field by field.
export type KubeconfigEntry = Readonly<Record<string, unknown>>;

/** "" if the value is not a string. */
export function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

export function textList(value: unknown): string[] {
	return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
