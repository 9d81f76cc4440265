/** "1 pod", "2 pods": for nouns with a plural in "s". */
export function counted(number: number, noun: string): string {
	return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
