// Markdown as our pages have it.
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
	const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
	return [line(head), line(head.map(() => "---")), ...rows.map((cells) => line(cells.map(cell)))].join("\n");
}

/** In code too a bar would end the cell. */
function cell(text: string): string {
	return text.replaceAll("|", "\\|");
}

export function codeBlock(language: string, text: string): string {
	return `\`\`\`${language}\n${text}\n\`\`\``;
}

export function code(text: string): string {
	return `\`${text}\``;
}
