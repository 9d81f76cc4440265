// Checks whether a text is a label selector, as kubectl checks --pod-selector before any request (apimachinery labels.Parse).

const key = String.raw`([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?`;
const value = String.raw`([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?`;
const requirement = new RegExp(
	String.raw`^\s*(!\s*${key}|${key}(\s*(=|==|!=)\s*${value}|\s*[<>]\s*\d+|\s+(in|notin)\s*\(\s*${value}(\s*,\s*${value})*\s*\))?)\s*$`,
);

export function isLabelSelector(text: string): boolean {
	if (text.trim() === "") return true;
	// Commas between parentheses belong to a list of values.
	return text.split(/,(?![^(]*\))/).every((part) => requirement.test(part));
}
