// A certificate and its private key, both as PEM.

export interface KeyPair {
	/** More than one where others stand between it and its CA. */
	readonly certificate: string;
	readonly key: string;
}
