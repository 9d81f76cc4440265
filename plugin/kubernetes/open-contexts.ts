// Opens the contexts that the flags select.
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
	/** Receives the API servers' warnings. Default: stderr. */
	readonly onWarning?: ServerWarningSink;
	/** Called when an API server keeps a request waiting. Default: stderr. */
	readonly onSilence?: (context: string, message: string) => void;
	/** Called before an exec plugin that may ask the user. Returns a function to call when the plugin has ended. */
	readonly onLogin?: ((contexts: readonly string[], command: string) => LoginEnd) | undefined;
	readonly turns?: TerminalTurns | undefined;
	readonly stop?: AbortSignal;
	/** Gives exec plugins no terminal, because a shell is using it. */
	readonly unattended?: boolean;
}

/**
 * The clients must be closed. Throws UsageError for invalid or contradictory flags, KubeconfigError if a context is unknown or cannot be
 * used.
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
			// With one context, no announcement is needed, and kubectl prints none.
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

/** Both become part of a URL path, so they must be names. */
function refuseOtherNames({ agentNamespace, agentAccount }: GlobalFlags): void {
	const see = "Name one as 'kubectl get namespaces' and 'kubectl get serviceaccounts' have them";
	if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(agentNamespace)) {
		throw new UsageError(`--agent-namespace is not the name of a namespace: ${quote(agentNamespace)}`, see);
	}
	if (agentAccount !== undefined && !/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(agentAccount)) {
		throw new UsageError(`--agent-account is not the name of a ServiceAccount: ${quote(agentAccount)}`, see);
	}
}

/** Returns the flags in use that rarely mean the same in two clusters. */
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
