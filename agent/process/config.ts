// Reads the agent's configuration: flags, each with an environment variable (XPDB_LISTEN_ADDRESS for --listen-address). A flag takes
// precedence. A contradictory, invalid or missing value is refused before anything starts.
import { isIP } from "node:net";
import yargs from "yargs";
import {
	agentName,
	defaultAgentNamespace,
	defaultAgentPort,
	defaultFleetConfigMap,
} from "../../disruption/agent-names.ts";
import { BoundedError } from "../../disruption/bounded-error.ts";
import { bracketsHint } from "../../disruption/brackets-hint.ts";
import { quote, shortenTo } from "../../disruption/quote.ts";

export interface Address {
	readonly host: string;
	readonly port: number;
}

/** One port on one or more addresses of this machine. */
export interface ListenAddress {
	readonly hosts: readonly string[];
	readonly port: number;
}

export interface AgentConfig {
	/** For callers with a token. */
	readonly listen: ListenAddress;
	/** For other agents of the fleet, by mutual TLS. */
	readonly peerListen: ListenAddress;
	/** /healthz, /readyz and /metrics, without TLS. */
	readonly httpListen: ListenAddress;
	readonly certificateFile: string;
	readonly privateKeyFile: string;
	readonly caFile: string;
	readonly leaseNamespace: string;
	/** The anchor of trust: any account that may write there is trusted as the agent. */
	readonly agentNamespace: string;
	readonly fleetConfigMap: string;
	/** If left out, the Pod's ServiceAccount is used. */
	readonly kubeconfig?: string;
	readonly pod: { readonly name: string; readonly namespace: string; readonly ip: string };
	readonly logLevel: LogLevel;
	/** If left out, the fleet's name for this cluster is used, or else its id. */
	readonly clusterName?: string;
}

export type LogLevel = (typeof logLevels)[number];

const logLevels = ["trace", "debug", "info", "warn", "error"] as const;

export class ConfigError extends BoundedError {
	override readonly name = "ConfigError";
	readonly reason = "Config";
}

type Environment = Readonly<Record<string, string | undefined>>;

const flags = {
	"listen-address": "HOST:PORT for callers with a token; without HOST, all addresses",
	"peer-listen-address": "HOST:PORT for the other agents of the fleet; without HOST, the Pod's addresses",
	"http-listen-address": "HOST:PORT for /healthz, /readyz and /metrics; without HOST, the Pod's addresses",
	"tls-cert-file": "Certificate of this agent, PEM; read again when it changes",
	"tls-private-key-file": "Private key of that certificate, PEM",
	"client-ca-file": "The fleet's CA, PEM (two CAs while it is being changed), which signs the agents' certificates",
	"lease-namespace":
		"Namespace of the agents' Leases, as the fleet's ConfigMap names it; the same in all clusters of the fleet",
	"agent-namespace": "Namespace that declares the fleet and names the agents' certificates, the same in all clusters",
	"fleet-configmap": "ConfigMap that declares the fleet, in the agents' namespace",
	kubeconfig: "How to reach the API server from outside a cluster",
	"pod-name": "Name of the Pod that this agent runs in (also POD_NAME)",
	"pod-namespace": "Namespace of that Pod (also POD_NAMESPACE)",
	"pod-ip": "Address of that Pod (also POD_IP)",
	"pod-ips":
		"All addresses of that Pod, separated by commas: a dual-stack Pod has two (also POD_IPS); if not given, --pod-ip",
	"log-level": `One of ${logLevels.join(", ")}`,
	"cluster-name": "Name of this cluster in messages; if not given, its name in the fleet",
} as const;

type Flag = keyof typeof flags;

const defaults: Partial<Record<Flag, string>> = {
	"listen-address": `:${defaultAgentPort}`,
	"peer-listen-address": ":8444",
	"http-listen-address": ":8080",
	"lease-namespace": defaultAgentNamespace,
	"agent-namespace": defaultAgentNamespace,
	"fleet-configmap": defaultFleetConfigMap,
	"log-level": "info",
};

/** Throws ConfigError. For `--help`, returns the text to print instead. */
export async function parseConfig(args: readonly string[], env: Environment): Promise<AgentConfig | { help: string }> {
	let help = "";
	const parser = yargs()
		.scriptName(agentName)
		.usage("$0 [flags]: serves leases, counts and reservations of one cluster")
		.options(optionsOf(env))
		.parserConfiguration({ "duplicate-arguments-array": false, "boolean-negation": false })
		.strict()
		.demandCommand(0, 0, "", "arguments other than flags are not supported")
		.version(false)
		.exitProcess(false)
		.showHelpOnFail(false)
		.fail((message: string | undefined, error: Error | undefined) => {
			throw new ConfigError(shortenTo(message || error?.message || "cannot read flags", 500));
		});
	const values: Readonly<Record<string, unknown>> = await parser.parse([...args], {}, (_error, _values, output) => {
		help = output;
	});
	if (values["help"] === true) return { help };
	return readConfig((flag) => {
		const value = values[flag];
		return typeof value === "string" ? value : "";
	}, env);
}

function optionsOf(env: Environment) {
	const options: Record<string, { type: "string"; requiresArg: true; describe: string; default?: string }> = {};
	for (const [flag, describe] of Object.entries(flags)) {
		const variable = variableOf(flag);
		const value = env[variable] ?? (flag.startsWith("pod-") ? env[variable.slice("XPDB_".length)] : undefined);
		const fallback = value ?? Object.entries(defaults).find(([name]) => name === flag)?.[1];
		options[flag] = {
			type: "string",
			requiresArg: true,
			describe: `${describe} [${variable}]`,
			...(fallback !== undefined && { default: fallback }),
		};
	}
	return options;
}

function readConfig(value: (flag: Flag) => string, env: Environment): AgentConfig {
	const needed = (flag: Flag): string => {
		const found = value(flag);
		if (found === "") throw new ConfigError(`--${flag} is needed (or ${variableOf(flag)}): ${flags[flag]}`);
		return found;
	};
	const kubeconfig = value("kubeconfig");
	if (kubeconfig === "" && !env["KUBERNETES_SERVICE_HOST"]) {
		throw new ConfigError("--kubeconfig is needed outside of a cluster (KUBERNETES_SERVICE_HOST is not set)");
	}
	const logLevel = logLevels.find((level) => level === value("log-level"));
	if (!logLevel)
		throw new ConfigError(`--log-level must be one of ${logLevels.join(", ")}, is ${quote(value("log-level"))}`);
	const clusterName = value("cluster-name");
	const pod = {
		name: objectName("pod-name", needed("pod-name")),
		namespace: objectName("pod-namespace", needed("pod-namespace")),
		ip: ipAddress(needed("pod-ip")),
	};
	return {
		...readAddresses(needed, [...new Set([pod.ip, ...ipAddresses(value("pod-ips"))])]),
		certificateFile: needed("tls-cert-file"),
		privateKeyFile: needed("tls-private-key-file"),
		caFile: needed("client-ca-file"),
		leaseNamespace: objectName("lease-namespace", needed("lease-namespace")),
		agentNamespace: objectName("agent-namespace", needed("agent-namespace")),
		fleetConfigMap: objectName("fleet-configmap", needed("fleet-configmap")),
		...(kubeconfig !== "" && { kubeconfig }),
		pod,
		logLevel,
		...(clusterName !== "" && { clusterName }),
	};
}

/**
 * A port-forward connects to the Pod's loopback address, and RBAC cannot limit it to one port. So by default only the port for callers
 * listens there. Kubelets and other agents connect to the Pod's addresses. A dual-stack Service sends connections to both of them.
 */
function readAddresses(
	needed: (flag: Flag) => string,
	podIps: readonly string[],
): Pick<AgentConfig, "listen" | "peerListen" | "httpListen"> {
	const read = (flag: Flag, defaultHosts: readonly string[]): ListenAddress =>
		parseAddress(flag, needed(flag), defaultHosts);
	// "::" accepts IPv4 too. But it cannot be used on a machine without IPv6.
	const listen = read("listen-address", [podIps.some((ip) => isIP(ip) === 6) ? "::" : "0.0.0.0"]);
	const peerListen = read("peer-listen-address", podIps);
	const httpListen = read("http-listen-address", podIps);
	// Port 0 means any free port.
	const ports = [listen, peerListen, httpListen].map(({ port }) => port).filter((port) => port !== 0);
	if (new Set(ports).size < ports.length) {
		throw new ConfigError(
			"--listen-address, --peer-listen-address and --http-listen-address must have different ports",
		);
	}
	return { listen, peerListen, httpListen };
}

/** Accepts HOST:PORT, with an IPv6 host in brackets, or :PORT. */
function parseAddress(flag: Flag, text: string, defaultHosts: readonly string[]): ListenAddress {
	const match = /^(?:\[([^\]]+)\]|([^:]+))?:([0-9]{1,5})$/.exec(text);
	const host = match?.[1] ?? match?.[2];
	const port = Number(match?.[3]);
	if (!match || port > 65_535 || (match[1] !== undefined && isIP(match[1]) !== 6)) {
		throw new ConfigError(`--${flag} must be HOST:PORT, is ${quote(text)}${bracketsHint(text)}`);
	}
	return { hosts: host === undefined ? defaultHosts : [host], port };
}

function ipAddress(text: string): string {
	if (isIP(text) === 0) throw new ConfigError(`--pod-ip must be an IP address, is ${quote(text)}`);
	return text;
}

function ipAddresses(text: string): readonly string[] {
	const found = text
		.split(",")
		.map((each) => each.trim())
		.filter((each) => each !== "");
	if (found.every((each) => isIP(each) !== 0)) return found;
	throw new ConfigError(`--pod-ips must be IP addresses separated by commas, is ${quote(text)}`);
}

function objectName(flag: Flag, text: string): string {
	if (text.length > 253 || !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text)) {
		throw new ConfigError(`--${flag} must be the name of a Kubernetes object, is ${quote(text)}`);
	}
	return text;
}

function variableOf(flag: string): string {
	return `XPDB_${flag.replaceAll("-", "_").toUpperCase()}`;
}

export function formatAddress({ host, port }: Address): string {
	return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}
