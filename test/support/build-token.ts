/** Returns a JSON Web Token with these claims and a meaningless signature. */
export function tokenWith(claims: Readonly<Record<string, unknown>>): string {
	const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
	return `${part({ alg: "RS256", kid: "test" })}.${part(claims)}.c2lnbmF0dXJl`;
}

/** Returns a token like those that kubectl xpdb requests. `name` makes it unique. */
export function shortToken(name: string): string {
	return tokenWith({ aud: ["xpdb-agent"], sub: name, iat: 1_700_000_000, exp: 1_700_000_600 });
}
