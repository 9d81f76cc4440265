// The content of a named kubeconfig entry. It is untrusted.
export type KubeconfigEntry = Readonly<Record<string, unknown>>;

export function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

export function textList(value: unknown): string[] {
	return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
