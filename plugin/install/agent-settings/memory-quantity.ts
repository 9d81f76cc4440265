// Reads quantities of memory as Kubernetes writes them, for example 512Mi.

const units: Readonly<Record<string, number>> = {
	"": 1,
	k: 1e3,
	M: 1e6,
	G: 1e9,
	T: 1e12,
	Ki: 2 ** 10,
	Mi: 2 ** 20,
	Gi: 2 ** 30,
	Ti: 2 ** 40,
};

/**
 * An idle agent needs 70 MB. The rest is for strangers: the limits on connections keep a flood below this, and do not shrink with the
 * memory.
 */
export const leastMemoryMi = 224;

/** Returns undefined for a text that is not such a quantity. */
export function memoryBytes(text: string): number | undefined {
	const [, number, unit = ""] = /^(\d{1,15}(?:\.\d{1,3})?)(k|M|G|T|Ki|Mi|Gi|Ti)?$/.exec(text) ?? [];
	return number === undefined ? undefined : Number(number) * (units[unit] ?? 1);
}

export function isTooLittle(text: string): boolean {
	return (memoryBytes(text) ?? Number.POSITIVE_INFINITY) < leastMemoryMi * 2 ** 20;
}
