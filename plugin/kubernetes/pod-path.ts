export function podPath({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
	return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
}
