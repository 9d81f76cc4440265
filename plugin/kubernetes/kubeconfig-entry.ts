// What stands under a name in a kubeconfig: foreign data, read field by field.
export type KubeconfigEntry = Readonly<Record<string, unknown>>;

/** "" where there is no text. */
export function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

export function textList(value: unknown): string[] {
	return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
