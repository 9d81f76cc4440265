export const certificateModes = ["create", "existing", "cert-manager"] as const;
/** Who creates the agents' certificates: this program (create), the user (existing), or cert-manager. */
export type CertificateMode = (typeof certificateModes)[number];
