// Recognises agents whose counts can let a budget be exceeded. A round adds up the counts of all members, so one such agent is enough.

/**
 * Whether an agent of this version is unsafe. Agents before 0.2 expect a workload's pods in their cluster only if they see one of those
 * pods or have granted one. CHANGELOG.md lists the other holes of 0.1. A text that is not a version counts as safe: no agent of ours
 * reports such a text, and `check` finds fault with it (VersionsApart).
 */
export function isUnsafeAgent(version: string): boolean {
	const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(version) ?? [];
	return major === "0" && Number(minor) < 2;
}
