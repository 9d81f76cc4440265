// `npm start` starts here, under any Node on the machine. It installs, and continues in demo/main.ts.
"use strict";
const { compileCache, goOn, install } = require("./install.cjs");

// A reader that stops (`| head -1`) has seen enough. demo/main.ts notices this by itself.
process.stdout.on("error", () => {});
install({
	quiet: true,
	fail(message) {
		console.error(`error: ${message}`);
		process.exit(1);
	},
});
// With the compiled code kept, the start takes half the time.
goOn("demo/main.ts", process.argv.slice(2), { NODE_COMPILE_CACHE: compileCache });
