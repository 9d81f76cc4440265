// Stops scripts that run under an old Node. npm puts the pinned Node 24, an optional dependency, first on the PATH of every script. Without
// that dependency, scripts would run under the machine's own Node and fail later in unreadable ways.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
	console.error(
		`error: xpdb needs Node 24 or newer, but ${process.execPath} is ${process.version}.\n` +
			"The pinned Node comes from npm: run `npm ci` without --omit=optional, and start scripts through `npm run`.",
	);
	process.exit(1);
}
