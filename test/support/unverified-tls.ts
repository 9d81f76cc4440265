import { onTestFinished } from "vitest";

/** Makes Node's environment ask for TLS without verification for the rest of a test. */
export function askForUnverifiedTls(): void {
	const name = "NODE_TLS_REJECT_UNAUTHORIZED";
	const was = process.env[name];
	process.env[name] = "0";
	onTestFinished(() => {
		if (was === undefined) delete process.env[name];
		else process.env[name] = was;
	});
}
