// Formats the Markdown of generated parts.
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
	const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
	return [line(head), line(head.map(() => "---")), ...rows.map((cells) => line(cells.map(cell)))].join("\n");
}

/** Escapes bars, which would end the cell even inside code. */
function cell(text: string): string {
	return text.replaceAll("|", "\\|");
}

export function codeBlock(language: string, text: string): string {
	return `\`\`\`${language}\n${text}\n\`\`\``;
}

export function code(text: string): string {
	return `\`${text}\``;
}
