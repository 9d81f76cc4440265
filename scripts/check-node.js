// npm puts the pinned Node 24 of our optionalDependencies first on the PATH of every script. If that download was skipped, scripts would
// silently run with the machine's own node, and fail later in unreadable ways.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
	console.error(
		`error: xpdb needs Node 24 or newer, but ${process.execPath} is ${process.version}.\n` +
			"The pinned Node comes from npm: run `npm ci` without --omit=optional, and start scripts through `npm run`.",
	);
	process.exit(1);
}
