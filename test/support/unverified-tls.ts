import { onTestFinished } from "vitest";

/** For the rest of a test, Node's environment asks for TLS without verification. */
export function askForUnverifiedTls(): void {
	const name = "NODE_TLS_REJECT_UNAUTHORIZED";
	const was = process.env[name];
	process.env[name] = "0";
	onTestFinished(() => {
		if (was === undefined) delete process.env[name];
		else process.env[name] = was;
	});
}
