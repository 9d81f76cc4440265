// Commands that somebody is told to type next: whole, and with the flags by which this one came to its clusters, so that they come
// to the same ones as the same person.
import { defaultAgentNamespace } from "../../disruption/agent-names.ts";
import { commandLine } from "../terminal/command-line.ts";
import type { GlobalFlags } from "./global-flags.ts";

export class SuggestedCommands {
	/** Of the run: the agents' anchor. Who may reach agents may look there, and maybe nowhere else. */
	readonly agentNamespace: string;
	/** Whether names need their context in front. */
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

	/** `context`: "" or undefined where no kubeconfig names the cluster. */
	kubectl(words: readonly string[], context: string | undefined): string {
		return commandLine(["kubectl", ...words, ...inContext(context), ...this.#toServers]);
	}

	/** The same for another person: an administrator, who gives this one a right. */
	kubectlAsAnother(words: readonly string[], context: string | undefined): string {
		return commandLine(["kubectl", ...words, ...inContext(context), ...this.#toServersAsAnother]);
	}

	/** Of ours, in one context. */
	xpdb(words: readonly string[], context: string | undefined): string {
		return xpdbCommand([...words, ...inContext(context), ...this.#toServers, ...this.#toAgents]);
	}

	/** Of ours, in the contexts that this command was given. */
	xpdbInAll(words: readonly string[]): string {
		return xpdbCommand([...words, ...this.#contexts, ...this.#toServers, ...this.#toAgents]);
	}
}

/** A plugin's name comes before all flags. */
export function xpdbCommand(words: readonly string[]): string {
	return commandLine(["kubectl", "xpdb", ...words]);
}

function inContext(context: string | undefined): readonly string[] {
	return context === undefined || context === "" ? [] : ["--context", context];
}

/** A secret has to be filled in again: a command line may be seen by others, and without it somebody else would act. */
const secret = "...";

/** Without what says who sends a request. */
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

/** Those that kubectl has too. */
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
