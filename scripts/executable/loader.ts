// The first code of the single executable: starts the plugin from the parts inside it.
import { getAssetKeys, getRawAsset } from "node:sea";
import { codeFileOf, type PartName, startProgram } from "./start-program.ts";

const inside = new Set(getAssetKeys());

function bytesOf(name: string): Buffer {
	return Buffer.from(getRawAsset(name));
}

const program = startProgram({
	read: (name: PartName) => {
		const code = codeFileOf(name, process.argv.slice(2));
		// The text is ASCII, which needs no decoding.
		return { source: bytesOf(`${name}.js`).toString("latin1"), ...(inside.has(code) && { code: bytesOf(code) }) };
	},
	compiled: (name, { cachedDataRejected: isRejected }) => {
		if (process.env["NODE_DEBUG"] !== "kubectl-xpdb") return;
		const fate = isRejected === undefined ? "none" : isRejected ? "rejected" : "accepted";
		process.stderr.write(`${name}: compiled code ${fate}\n`);
	},
});
// Only failures that the program could not report by itself get here.
program.catch((error: unknown) => {
	process.stderr.write(`error: ${error instanceof Error ? error.stack : String(error)}\n`);
	process.exit(1);
});
