// Builds complete commands for the user to run next. They include the flags by which this command reached its clusters, so that they reach
// the same clusters as the same user.
import { defaultAgentNamespace } from "../../disruption/agent-names.ts";
import { commandLine } from "../terminal/command-line.ts";
import type { GlobalFlags } from "./global-flags.ts";

export class SuggestedCommands {
	/** The namespace of the run's agents. A user who may reach the agents may look there, and perhaps nowhere else. */
	readonly agentNamespace: string;
	/** Whether names need their context as a prefix. */
	readonly inSeveral: boolean;
	readonly #contexts: readonly string[];
	readonly #toServers: readonly string[];
	readonly #toServersAsAnother: readonly string[];
	readonly #toAgents: readonly string[];

	constructor(globals: GlobalFlags) {
		const { context, contexts, agentNamespace, agentAccount } = globals;
		this.agentNamespace = agentNamespace;
		this.inSeveral = contexts.length > 1;
		this.#contexts = [
			...(contexts.length > 0 ? [`--contexts=${contexts.join(",")}`] : []),
			...(context === undefined ? [] : [`--context=${context}`]),
		];
		this.#toServers = serverFlags(globals);
		this.#toServersAsAnother = serverFlags({ ...globals, ...nobody });
		this.#toAgents = [
			...(agentNamespace === defaultAgentNamespace ? [] : [`--agent-namespace=${agentNamespace}`]),
			...(agentAccount === undefined ? [] : [`--agent-account=${agentAccount}`]),
		];
	}

	/** `context` is "" or undefined if no kubeconfig names the cluster. */
	kubectl(words: readonly string[], context: string | undefined): string {
		return commandLine(["kubectl", ...words, ...inContext(context), ...this.#toServers]);
	}

	/** Like kubectl(), for an administrator who grants this user a permission. */
	kubectlAsAnother(words: readonly string[], context: string | undefined): string {
		return commandLine(["kubectl", ...words, ...inContext(context), ...this.#toServersAsAnother]);
	}

	xpdb(words: readonly string[], context: string | undefined): string {
		return xpdbCommand([...words, ...inContext(context), ...this.#toServers, ...this.#toAgents]);
	}

	xpdbInAll(words: readonly string[]): string {
		return xpdbCommand([...words, ...this.#contexts, ...this.#toServers, ...this.#toAgents]);
	}
}

/** kubectl requires the plugin's name before all flags. */
export function xpdbCommand(words: readonly string[]): string {
	return commandLine(["kubectl", "xpdb", ...words]);
}

function inContext(context: string | undefined): readonly string[] {
	return context === undefined || context === "" ? [] : ["--context", context];
}

/**
 * Stands for a secret that the user has to fill in again. Other users may see a command line, and without the flag the command would run as
 * another user.
 */
const secret = "...";

/** Clears the flags that say which user sends a request. */
const nobody = {
	user: undefined,
	token: undefined,
	username: undefined,
	password: undefined,
	as: undefined,
	asUid: undefined,
	asGroup: [],
	asUserExtra: [],
	clientCertificate: undefined,
	clientKey: undefined,
} satisfies Partial<GlobalFlags>;

/** The flags that say how to reach the API servers and as which user. kubectl has them too. */
function serverFlags(globals: GlobalFlags): readonly string[] {
	const texts: readonly (readonly [string, string | undefined])[] = [
		["kubeconfig", globals.kubeconfig],
		["cluster", globals.cluster],
		["user", globals.user],
		["server", globals.server],
		["token", globals.token === undefined ? undefined : secret],
		["username", globals.username],
		["password", globals.password === undefined ? undefined : secret],
		["as", globals.as],
		["as-uid", globals.asUid],
		...globals.asGroup.map((group) => ["as-group", group] as const),
		...globals.asUserExtra.map((extra) => ["as-user-extra", extra] as const),
		["certificate-authority", globals.certificateAuthority],
		["client-certificate", globals.clientCertificate],
		["client-key", globals.clientKey],
		["tls-server-name", globals.tlsServerName],
	];
	return [
		...texts.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
		...(globals.insecureSkipTlsVerify ? ["--insecure-skip-tls-verify"] : []),
	];
}
