/** Returns the version of a Node binary for any platform. The binary contains the version in the URL of the headers for add-ons. */
export function nodeVersionOf(binary: Buffer): string {
	const at = binary.indexOf("-headers.tar.gz");
	const [, version] = /\/node-v(\d+\.\d+\.\d+)$/.exec(binary.toString("latin1", Math.max(0, at - 32), at)) ?? [];
	if (at === -1 || version === undefined) throw new Error("Cannot find in the binary which version of Node it is");
	return version;
}
