// Defines a certificate with its private key, both as PEM.

export interface KeyPair {
	/** Includes the intermediate certificates up to its CA, if there are any. */
	readonly certificate: string;
	readonly key: string;
}
