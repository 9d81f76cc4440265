// `npm start`, under any Node on the machine: installs, then runs demo/main.ts under the pinned Node.
"use strict";
const { compileCache, goOn, install } = require("./install.cjs");

// A reader such as `head -1` may close the pipe early. demo/main.ts notices that by itself.
process.stdout.on("error", () => {});
install({
	quiet: true,
	fail(message) {
		console.error(`error: ${message}`);
		process.exit(1);
	},
});
// The compile cache halves the time of the start.
goOn("demo/main.ts", process.argv.slice(2), { NODE_COMPILE_CACHE: compileCache });
