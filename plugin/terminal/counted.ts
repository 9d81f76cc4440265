/** "1 pod", "2 pods": for nouns whose plural has an "s". */
export function counted(number: number, noun: string): string {
	return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
