// Returns the contexts of a run as text: their names if there is room, otherwise their number.
export function contextText(contexts: readonly string[], room: number): string {
	const names = contexts.join(", ");
	if (contexts.length <= 1 || names.length <= room) return names;
	return `${contexts.length} contexts`;
}
