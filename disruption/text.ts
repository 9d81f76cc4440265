/** Whether a foreign value is a text that is not empty. */
export function isText(value: unknown): value is string {
	return typeof value === "string" && value !== "";
}
