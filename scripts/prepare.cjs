// npm runs this at the end of `npm ci`. It bundles the plugin and the agent and fills the compile cache, so that the first `npm start` is
// as quick as later ones. It ignores failures, because a failed step is repeated, and reported, when its result is needed.
"use strict";
const { spawnSync } = require("node:child_process");
const { existsSync } = require("node:fs");
const { compileCache, pinnedNode, root } = require("./install.cjs");

function run(...args) {
	const env = { ...process.env, NODE_COMPILE_CACHE: compileCache };
	return spawnSync(pinnedNode, args, { cwd: root, env, stdio: "ignore" }).status === 0;
}

if (existsSync(pinnedNode) && run("scripts/build.ts")) {
	const demonstration = ["demonstration", "cluster-process"].map((name) => `import("./demo/${name}.ts")`);
	run("--input-type=module", "--eval", `await Promise.all([${demonstration.join(", ")}]); process.exit(0);`);
	run("dist/agent.js", "--help");
	run("dist/kubectl-xpdb.js", "drain", "--help");
}
