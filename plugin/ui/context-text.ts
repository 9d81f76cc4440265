// Returns the names of the contexts if there is room, and otherwise their number.
export function contextText(contexts: readonly string[], room: number): string {
	const names = contexts.join(", ");
	if (contexts.length <= 1 || names.length <= room) return names;
	return `${contexts.length} contexts`;
}
