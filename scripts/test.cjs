// `npm test`, under any Node on the machine: installs, then runs test.ts under the pinned Node.
"use strict";
const { goOn, install } = require("./install.cjs");

const startedAt = performance.now();
install({
	fail(message) {
		console.error(`error: ${message}`);
		console.log("0 passed, 1 failed, 0 skipped");
		process.exit(1);
	},
});
const installMs = Math.round(performance.now() - startedAt);
goOn("scripts/test.ts", [`--install-ms=${installMs}`, ...process.argv.slice(2)]);
