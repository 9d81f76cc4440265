// Defines and reads the flags that say who creates the agents' certificates, and with which CA or issuer.
import { readFileSync } from "node:fs";
import { quote } from "../../disruption/quote.ts";
import { type CommandInput, textFlag } from "../flags/command.ts";
import type { FlagTable } from "../flags/flag.ts";
import { errorText } from "../kubernetes/api-error.ts";
import { UsageError } from "../terminal/errors.ts";
import { type CertificateMode, certificateModes } from "./certificate-mode.ts";
import type { CertificateOptions } from "./fleet-certificates.ts";

export const authorityFlags: FlagTable = {
	"ca-cert": {
		kind: "text",
		default: "",
		value: "FILE",
		describe: "The certificate of the fleet's CA, instead of a CA kept in a cluster",
	},
	"ca-key": { kind: "text", default: "", value: "FILE", describe: "The private key of --ca-cert; it is not stored" },
};

export const certificateFlags: FlagTable = {
	certs: {
		kind: "text",
		default: "create",
		value: "create|existing|cert-manager",
		describe: "Who creates the certificates; existing: each cluster has them already",
	},
	...authorityFlags,
	"cert-issuer": {
		kind: "text",
		default: "",
		value: "KIND/NAME",
		describe: "With --certs=cert-manager: an existing Issuer or ClusterIssuer",
	},
};

export type CertificateChoice = Pick<CertificateOptions, "mode" | "authority" | "issuer">;

export function readCertificateChoice(input: CommandInput): CertificateChoice {
	const given = textFlag(input, "certs");
	const mode: CertificateMode | undefined = certificateModes.find((each) => each === given);
	if (!mode) throw new UsageError(`--certs is one of ${certificateModes.join(", ")}: ${quote(given)}`);
	return { mode, authority: readAuthorityFiles(input), issuer: readIssuer(textFlag(input, "cert-issuer"), mode) };
}

export function readAuthorityFiles(input: CommandInput): CertificateChoice["authority"] {
	const certificate = readGiven("ca-cert", textFlag(input, "ca-cert"));
	const key = readGiven("ca-key", textFlag(input, "ca-key"));
	if (key !== undefined && certificate === undefined) throw new UsageError("--ca-key needs its certificate, --ca-cert");
	return certificate === undefined ? undefined : { certificate, ...(key !== undefined && { key }) };
}

function readGiven(flag: string, path: string): string | undefined {
	if (path === "") return undefined;
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		throw new UsageError(`cannot read the file of --${flag}: ${errorText(error)}`);
	}
}

function readIssuer(text: string, mode: CertificateMode): CertificateChoice["issuer"] {
	if (text === "") return undefined;
	if (mode !== "cert-manager") throw new UsageError("--cert-issuer is for --certs=cert-manager");
	const [, kind, name = ""] = /^(Issuer|ClusterIssuer)\/([a-z0-9][-a-z0-9.]{0,252})$/.exec(text) ?? [];
	if (kind === "Issuer" || kind === "ClusterIssuer") return { kind, name };
	throw new UsageError(`--cert-issuer is neither Issuer/NAME nor ClusterIssuer/NAME: ${quote(text)}`);
}
