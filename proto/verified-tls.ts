// Keeps the environment of a process from turning off the verification of servers.
//
// NODE_TLS_REJECT_UNAUTHORIZED=0 turns it off for all of Node. The clients of this repository set `rejectUnauthorized` and ignore that
// variable. But Node and libraries read it for each connection that they open, for example to an HTTPS proxy or an OIDC issuer.

/** Removes the variable for this process from now on, and for programs that it starts. */
export function requireVerifiedTls(env: NodeJS.ProcessEnv): void {
	delete env["NODE_TLS_REJECT_UNAUTHORIZED"];
}

/** Replaces Node's advice in a TLS error with `advice`. Node advises a flag of its own, which these programs do not accept. */
export function withoutNodeAdvice(message: string, advice = ""): string {
	return message.replaceAll(
		/; if the root CA is installed locally, try running Node\.js with\s+--use-system-ca/g,
		() => advice && `; ${advice}`,
	);
}
