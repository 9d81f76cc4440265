// Every server must prove its identity, whatever the environment of the process says.
//
// NODE_TLS_REJECT_UNAUTHORIZED=0 turns verification off for all of Node. Our own clients set `rejectUnauthorized` and ignore
// that variable. Connections that Node or a library opens (to an HTTPS proxy, to an OIDC issuer) read it each time, so it is
// removed.

/** Applies to this process from now on, and to the programs that it starts. */
export function requireVerifiedTls(env: NodeJS.ProcessEnv): void {
	delete env["NODE_TLS_REJECT_UNAUTHORIZED"];
}

/** What TLS said of a certificate. Node advises to start it with another flag, which these programs do not take; `advice` is ours. */
export function withoutNodeAdvice(message: string, advice = ""): string {
	return message.replaceAll(
		/; if the root CA is installed locally, try running Node\.js with\s+--use-system-ca/g,
		() => advice && `; ${advice}`,
	);
}
