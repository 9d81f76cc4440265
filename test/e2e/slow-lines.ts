// Recognises progress lines, and lines that a run prints only if agents or API servers answer slowly on a busy machine.
const slow =
	/^cluster \S+ (gives no answer|answers again)|^pod \S+ waits: (cluster .* to list its budgets|the lists of budgets took .* together)\. |^not known whether budget \S+ has recovered: no answer within |^Warning: whether a node is left for the pods that go is not known: cannot (reach|get an answer)|^(Warning: |\S+(: | {2,}))?waiting for the API server: no answer for /;
const progress = /^progress \d/;

export function isSlowLine(line: string): boolean {
	return slow.test(line);
}

/** A run prints such a line every 15 seconds. */
export function isProgressLine(line: string): boolean {
	return progress.test(line);
}

export function withoutSlowLines(text: string): string {
	return text
		.split("\n")
		.filter((line) => !isSlowLine(line) && !isProgressLine(line))
		.join("\n");
}
