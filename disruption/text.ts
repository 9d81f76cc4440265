/** Whether a foreign value is a non-empty text. */
export function isText(value: unknown): value is string {
	return typeof value === "string" && value !== "";
}
