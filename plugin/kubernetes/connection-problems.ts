// Checks a context's cluster and user before any request, mostly in kubectl's words (client-go, tools/clientcmd/validation.go).
import { oneLine } from "../../disruption/printable.ts";
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import { execPluginProblems } from "./exec-plugin.ts";
import { readFileText } from "./file-text.ts";
import { type KubeconfigEntry, text } from "./kubeconfig-entry.ts";
import { certificateProblem, privateKeyProblem } from "./pem-problem.ts";

export interface ConnectionParts {
	readonly clusterName: string;
	readonly cluster: KubeconfigEntry;
	readonly userName: string;
	readonly user: KubeconfigEntry;
	/** Impersonation beyond the user name. */
	readonly headers: Readonly<Record<string, unknown>>;
}

export function connectionProblems(parts: ConnectionParts): readonly string[] {
	return [...clusterProblems(parts), ...userProblems(parts)];
}

function clusterProblems({ clusterName, cluster }: ConnectionParts): readonly string[] {
	const problems = [...pemProblems("certificate-authority", clusterName, cluster)];
	const proxy = text(cluster["proxy-url"]);
	if (proxy !== "") {
		const scheme = URL.canParse(proxy) ? new URL(proxy).protocol.replace(/:$/, "") : "";
		if (!["http", "https", "socks5"].includes(scheme)) {
			problems.push(
				`invalid 'proxy-url' ${quote(proxy)} for cluster ${quote(clusterName)}: unsupported scheme ${quote(scheme)}, must be http, https, or socks5`,
			);
		}
	}
	if (cluster["insecure-skip-tls-verify"] === true && has(cluster, "certificate-authority")) {
		problems.push("specifying a root certificates file with the insecure flag is not allowed");
	}
	return problems;
}

function userProblems({ userName, user, headers }: ConnectionParts): readonly string[] {
	const problems: string[] = [];
	if (has(user, "client-certificate")) {
		if (!has(user, "client-key")) {
			problems.push(
				`client-key-data or client-key must be specified for ${userName} to use the clientCert authentication method.`,
			);
		}
		problems.push(...pemProblems("client-certificate", userName, user), ...pemProblems("client-key", userName, user));
	}
	if (text(user["token"]) !== "" && text(user["username"]) + text(user["password"]) !== "") {
		problems.push(
			`more than one authentication method found for ${userName}; found [token basicAuth], only one is allowed`,
		);
	}
	const tokenFile = text(user["tokenFile"]);
	// With a token, an unreadable file is no error, because the token is used.
	if (tokenFile !== "" && text(user["token"]) === "") {
		const { problem } = readFileText(tokenFile);
		if (problem !== undefined) problems.push(problem);
	}
	problems.push(...execPluginProblems(user["exec"], userName));
	const provider = user["auth-provider"];
	if (isRecord(provider)) {
		problems.push(...providerProblems(provider));
		if (isRecord(user["exec"])) {
			problems.push(`authProvider cannot be provided in combination with an exec plugin for ${userName}`);
		}
	}
	if (Object.keys(headers).length > 0 && text(user["as"]) === "") {
		problems.push(`requesting uid, groups or user-extra for ${userName} without impersonating a user`);
	}
	return problems;
}

const insteadOf: Readonly<Record<string, string>> = {
	gcp: 'Please use the "gke-gcloud-auth-plugin" kubectl/client-go credential plugin instead.',
	azure: "Please use the https://github.com/Azure/kubelogin kubectl/client-go credential plugin instead.",
};

function providerProblems(provider: KubeconfigEntry): readonly string[] {
	const name = text(provider["name"]);
	if (name === "oidc") {
		const config = isRecord(provider["config"]) ? provider["config"] : {};
		const missing = ["idp-issuer-url", "client-id"].find((field) => text(config[field]) === "");
		return missing === undefined ? [] : [`Must provide ${missing}`];
	}
	const instead = insteadOf[name];
	return [
		instead === undefined
			? `no Auth Provider found for name ${quote(name)}`
			: `The ${name} auth plugin has been removed.\n${instead}`,
	];
}

type PemField = "certificate-authority" | "client-certificate" | "client-key";

function has(entry: KubeconfigEntry, field: PemField): boolean {
	return text(entry[field]) !== "" || text(entry[`${field}-data`]) !== "";
}

const kubectlName: Readonly<Record<PemField, string>> = {
	"certificate-authority": "certificate-authority",
	"client-certificate": "client-cert",
	"client-key": "client-key",
};

function pemProblems(field: PemField, name: string, entry: KubeconfigEntry): readonly string[] {
	const path = text(entry[field]);
	const shown = oneLine(path);
	const data = text(entry[`${field}-data`]);
	if (path === "" && data === "") return [];
	if (path !== "" && data !== "") {
		return [`${kubectlName[field]}-data and ${kubectlName[field]} are both specified for ${name}: remove one of them`];
	}
	const file = data === "" ? readFileText(path) : { content: Buffer.from(data, "base64").toString() };
	if (file.problem !== undefined)
		return [`unable to read ${kubectlName[field]} ${shown} for ${name} due to ${file.problem}`];
	const problem = field === "client-key" ? privateKeyProblem(file.content) : certificateProblem(file.content);
	if (problem === undefined) return [];
	return [`unable to parse ${data === "" ? shown : `${field}-data of ${name}`} as PEM block: ${problem}`];
}
