// Opens the contexts that a command works in, from its flags.
import { oneLine } from "../../disruption/printable.ts";
import { quote } from "../../disruption/quote.ts";
import { formatDuration } from "../flags/duration.ts";
import type { GlobalFlags } from "../flags/global-flags.ts";
import { SuggestedCommands } from "../flags/suggested-commands.ts";
import { UsageError } from "../terminal/errors.ts";
import type { TextSink } from "../terminal/streams.ts";
import type { TerminalTurns } from "../terminal/terminal-turns.ts";
import { createVerboseLog } from "../terminal/verbose-log.ts";
import { findCacheFolder } from "./cache-folder.ts";
import { resolveConnection, unknownEntry } from "./connection.ts";
import { createKeptNote } from "./kept-note.ts";
import type { KubeContext } from "./kube-context.ts";
import { loadKubeconfig } from "./kubeconfig.ts";
import { createKubernetesClient } from "./kubernetes-client.ts";
import { LoginDesk, type LoginEnd } from "./login-desk.ts";
import { type ServerWarningSink, tellOnce } from "./server-warning.ts";

export interface OpenOptions {
	/** Receives the warnings of the API servers. Default: stderr. */
	readonly onWarning?: ServerWarningSink;
	/** Called when an API server keeps a request waiting. Default: stderr. */
	readonly onSilence?: (context: string, message: string) => void;
	/**
	 * Called before a login program that may ask the user. Returns a function to call when the program has ended. With several contexts,
	 * stderr announces the login anyway.
	 */
	readonly onLogin?: ((contexts: readonly string[], command: string) => LoginEnd) | undefined;
	/** Gives exclusive use of the terminal to logins that may ask the user. */
	readonly turns?: TerminalTurns | undefined;
	/** Stops a running login. */
	readonly stop?: AbortSignal;
	/** Login programs do not get the terminal, because a shell is using it. */
	readonly unattended?: boolean;
}

/**
 * Opens the contexts. Their clients must be closed. Throws UsageError for flags that are invalid, refused or contradict each other, and
 * KubeconfigError if a context is unknown or cannot be used.
 */
export function openContexts(
	flags: GlobalFlags,
	env: NodeJS.ProcessEnv,
	stderr: TextSink,
	{
		onWarning = tellOnce((_, message) => stderr.write(`Warning: ${message}\n`)),
		onSilence = (context, message) => stderr.write(`${flags.contexts.length > 1 ? `${context}: ` : ""}${message}\n`),
		onLogin,
		turns,
		stop = new AbortController().signal,
		unattended = false,
	}: OpenOptions = {},
): readonly KubeContext[] {
	if (flags.contexts.length > 0 && flags.context !== undefined) {
		throw new UsageError("cannot use --context and --contexts together", "Use one of them");
	}
	if (flags.matchServerVersion) {
		throw new UsageError(
			"the plugin has a version of its own, which no server matches",
			"Leave out --match-server-version",
		);
	}
	for (const [index, name] of flags.contexts.entries()) {
		if (name === "") throw new UsageError("--contexts has an empty name", "Write --contexts=a,b,c");
		if (flags.contexts.indexOf(name) !== index) throw new UsageError(`context "${name}" is given twice in --contexts`);
	}
	refuseOtherNames(flags);
	const kubeconfig = loadKubeconfig(flags, env);
	const { missing = [] } = kubeconfig;
	if (missing.length > 0) stderr.write(`Warning: Config not found: ${oneLine(missing.join(", "))}\n`);
	for (const name of flags.contexts) {
		if (!kubeconfig.contexts.has(name)) throw unknownEntry("context", name, kubeconfig);
	}
	const names = flags.contexts.length > 0 ? flags.contexts : [flags.context];
	const shared = sharedFlags(flags);
	if (names.length > 1 && shared.length > 0) {
		stderr.write(`Warning: ${shared.join(", ")} holds for all ${names.length} contexts\n`);
	}
	const log = createVerboseLog(flags.verbosity, stderr);
	const suggest = new SuggestedCommands(flags);
	const known = [...kubeconfig.contexts.keys()];
	const cache = findCacheFolder(env);
	const logins = new LoginDesk({
		turns,
		surroundings: { complain: (text) => stderr.write(text), stop },
		announce(contexts, { command }) {
			// With a single context the login needs no announcement, and kubectl prints none.
			if (names.length > 1) stderr.write(`logging in to ${contextList(contexts)} with ${oneLine(command)}\n`);
			return onLogin?.(contexts, command);
		},
	});
	return names.map((name) => {
		const connection = resolveConnection(kubeconfig, name, flags, env);
		const { context, namespace, exec } = connection;
		const login = unattended && exec ? { ...connection, exec: { ...exec, interactiveMode: "Never" } } : connection;
		const client = createKubernetesClient(login, (message) => onWarning(context, message), {
			log,
			logins,
			onSilence: (silentForMs) =>
				onSilence(context, `waiting for the API server: no answer for ${formatDuration(silentForMs)}`),
		});
		const agents = { namespace: flags.agentNamespace, account: flags.agentAccount };
		const lastAgent = createKeptNote(cache, [connection.server, "agent", agents.namespace]);
		return { name: context, namespace, client, known, agents, lastAgent, suggest, log };
	});
}

function contextList(contexts: readonly string[]): string {
	return `context${contexts.length === 1 ? "" : "s"} ${contexts.map(quote).join(", ")}`;
}

/**
 * Refuses an agent namespace or account that is not a name: both become part of a URL path, and users who may write in that namespace are
 * trusted.
 */
function refuseOtherNames({ agentNamespace, agentAccount }: GlobalFlags): void {
	const see = "Name one as 'kubectl get namespaces' and 'kubectl get serviceaccounts' have them";
	if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(agentNamespace)) {
		throw new UsageError(`--agent-namespace is not the name of a namespace: ${quote(agentNamespace)}`, see);
	}
	if (agentAccount !== undefined && !/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(agentAccount)) {
		throw new UsageError(`--agent-account is not the name of a ServiceAccount: ${quote(agentAccount)}`, see);
	}
}

/** Returns the given flags that rarely mean the same thing in two clusters. */
function sharedFlags(flags: GlobalFlags): readonly string[] {
	const given: readonly (readonly [string, unknown])[] = [
		["--server", flags.server],
		["--cluster", flags.cluster],
		["--user", flags.user],
		["--token", flags.token],
		["--username", flags.username],
		["--client-certificate", flags.clientCertificate],
		["--client-key", flags.clientKey],
		["--certificate-authority", flags.certificateAuthority],
	];
	return given.filter(([, value]) => value !== undefined).map(([name]) => name);
}
