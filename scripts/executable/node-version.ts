/**
 * The version of Node that a binary is, for whatever platform: it names the headers to compile add-ons with. What one version wrote to be put
 * into itself, another one may abort on.
 */
export function nodeVersionOf(binary: Buffer): string {
	const at = binary.indexOf("-headers.tar.gz");
	const [, version] = /\/node-v(\d+\.\d+\.\d+)$/.exec(binary.toString("latin1", Math.max(0, at - 32), at)) ?? [];
	if (at === -1 || version === undefined) throw new Error("Cannot find in the binary which version of Node it is");
	return version;
}
