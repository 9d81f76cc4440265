// `npm start` starts here, under whatever Node the machine has: it installs, and goes on in demo/main.ts.
"use strict";
const { compileCache, goOn, install } = require("./install.cjs");

// Who stops reading (`| head -1`) has seen enough; the rest notices by itself.
process.stdout.on("error", () => {});
install({
	quiet: true,
	fail(message) {
		console.error(`error: ${message}`);
		process.exit(1);
	},
});
// Kept compiled, that takes half the time.
goOn("demo/main.ts", process.argv.slice(2), { NODE_COMPILE_CACHE: compileCache });
