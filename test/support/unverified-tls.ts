import { onTestFinished } from "vitest";

/** Sets NODE_TLS_REJECT_UNAUTHORIZED=0 until the test ends. */
export function askForUnverifiedTls(): void {
	const name = "NODE_TLS_REJECT_UNAUTHORIZED";
	const was = process.env[name];
	process.env[name] = "0";
	onTestFinished(() => {
		if (was === undefined) delete process.env[name];
		else process.env[name] = was;
	});
}
