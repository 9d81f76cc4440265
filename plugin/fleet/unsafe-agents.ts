// Recognises agents whose counts can let a budget be exceeded. A round adds up the counts of all members, so one such agent is enough.

/**
 * Agents before 0.2 expect a workload's pods in their cluster only if they see or have granted one of them. CHANGELOG.md lists further
 * problems of 0.1. A text that is not a version counts as safe: no agent reports one, and `check` complains about it (VersionsApart).
 */
export function isUnsafeAgent(version: string): boolean {
	const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(version) ?? [];
	return major === "0" && Number(minor) < 2;
}
