// Reads names from clusters for the Tab key. Kept names come at once, others from each cluster that answers in time. Names that come too
// late, or that were kept some time ago, are requested in the background, for the next Tab.
import { isRecord } from "../../disruption/record.ts";
import type { GlobalFlags } from "../flags/global-flags.ts";
import type { Connection } from "../kubernetes/connection.ts";
import type { KeptNames } from "../kubernetes/kept-names.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { isName } from "../kubernetes/object-name.ts";
import type { openContexts } from "../kubernetes/open-contexts.ts";

/** A limit for kinds of which a cluster may have thousands of objects. */
const mostObjects = 500;

export interface Completion {
	readonly value: string;
	readonly about?: string;
}

export interface ListedObject {
	readonly name: string;
	readonly annotations: Readonly<Record<string, string>>;
}

export interface NameList {
	readonly path: (namespace: string) => string;
	/** Completes something other than the objects' names. `word` separates what is kept for it from the kept names. */
	readonly others?: { readonly word: string; readonly of: (object: ListedObject) => Completion | undefined };
}

export interface ContextNames {
	readonly context: string;
	readonly names: readonly Completion[];
}

export interface NameSource {
	/** Returns the names of each context that has kept names or has answered, in the order of the flags. */
	list(flags: GlobalFlags, list: NameList): Promise<readonly ContextNames[]>;
}

interface SourceOptions {
	readonly env: NodeJS.ProcessEnv;
	/** Aborts when the time is up. */
	readonly signal: AbortSignal;
	/** For tests. */
	readonly open?: typeof openContexts | undefined;
	/** The clock for the age of kept names. For tests. */
	readonly wallClock?: (() => number) | undefined;
}

export interface KeySource extends NameSource {
	/**
	 * Keeps the names that the clusters returned. Call it after the answer was written. Returns whether to request names in the background.
	 */
	end(): boolean;
}

export function namesAtTheKey(options: SourceOptions): KeySource {
	const toKeep: (() => void)[] = [];
	const toRefresh: (() => boolean)[] = [];
	return {
		async list(flags, list) {
			const known = await findKept(flags, options);
			const key = listKey(list);
			const kept = known.map((each) => ({
				context: each.connection.context,
				names: each.names.read(key(each.connection.namespace))?.map((value) => ({ value })) ?? [],
			}));
			// An empty list is not used: an object may have been created since.
			const missing = known.filter((_, index) => kept[index]?.names.length === 0);
			toRefresh.push(...known.map((each) => () => mayAskInBackground(each, key)));
			if (known.length > 0 && missing.length === 0) return kept;
			const asked = await ask(onlyContexts(flags, missing), list, options);
			for (const each of missing) {
				const names = asked.find(({ context }) => context === each.connection.context)?.names;
				if (names) toKeep.push(() => each.names.write(key(each.connection.namespace), valuesOf(names)));
			}
			if (known.length === 0) return asked;
			return kept.flatMap((each) => {
				const found = each.names.length > 0 ? each : asked.find(({ context }) => context === each.context);
				return found ? [found] : [];
			});
		},
		end() {
			for (const keep of toKeep) keep();
			return toRefresh.some((isDue) => isDue());
		},
	};
}

/** Requests names and keeps them for the next Tab. Its list() returns none. */
export function namesInBackground(options: SourceOptions): NameSource {
	return {
		async list(flags, list) {
			const key = listKey(list);
			const due = (await findKept(flags, options)).filter((each) => mayAskInBackground(each, key));
			if (due.length === 0) return [];
			for (const { names } of due) names.noteRequest();
			const asked = await ask(onlyContexts(flags, due), list, options);
			for (const { connection, names } of due) {
				const found = asked.find(({ context }) => context === connection.context);
				if (found) names.write(key(connection.namespace), valuesOf(found.names));
			}
			return [];
		},
	};
}

interface KeptContext {
	readonly connection: Connection;
	readonly names: KeptNames;
}

/** Never true for a user whose login is a program, because the program may ask the user something, and nothing is kept for such a user. */
function mayAskInBackground({ connection, names }: KeptContext, key: (namespace: string) => string): boolean {
	return names.isDue(key(connection.namespace));
}

/**
 * Returns the contexts of the command line with their kept names. Empty if the kubeconfig does not resolve the contexts, because the line
 * may be incomplete. Also empty if the line has a token, a username or a password, or impersonates a user, because nothing may be kept
 * then. Does not load TLS, the slowest part.
 */
async function findKept(flags: GlobalFlags, { env, wallClock }: SourceOptions): Promise<readonly KeptContext[]> {
	const { token, as, asUid, asGroup, asUserExtra, username, password } = flags;
	const said = [token, as, asUid, username, password, ...asGroup, ...asUserExtra];
	if (said.some((each) => each !== undefined)) return [];
	const [{ loadKubeconfig }, { resolveConnection }, { createKeptNames }] = await Promise.all([
		import("../kubernetes/kubeconfig.ts"),
		import("../kubernetes/connection.ts"),
		import("../kubernetes/kept-names.ts"),
	]);
	try {
		const kubeconfig = loadKubeconfig(flags, env);
		const contexts = flags.contexts.length > 0 ? flags.contexts : [flags.context];
		return contexts.map((context) => {
			const connection = resolveConnection(kubeconfig, context, flags, env);
			return { connection, names: createKeptNames(env, connection, wallClock) };
		});
	} catch {
		// The command reports what is wrong when it runs.
		return [];
	}
}

function onlyContexts(flags: GlobalFlags, contexts: readonly KeptContext[]): GlobalFlags {
	if (flags.contexts.length === 0 || contexts.length === 0) return flags;
	return { ...flags, contexts: contexts.map(({ connection }) => connection.context) };
}

const listKey =
	({ path, others }: NameList) =>
	(namespace: string): string =>
		`${others?.word ?? ""} ${path(namespace)}`;

const valuesOf = (names: readonly Completion[]): readonly string[] => names.map(({ value }) => value);

/** Asks each context separately, so that a silent one does not delay the names of the others. Returns what is known when the time is up. */
async function ask(
	flags: GlobalFlags,
	{ path, others }: NameList,
	{ env, signal, open }: SourceOptions,
): Promise<readonly ContextNames[]> {
	if (signal.aborted) return [];
	const quiet = { write: () => undefined, columns: undefined };
	// Loaded only here: TLS and its dependencies take as long to load as all other code, and words that are known locally do not need them.
	const opened = open ?? (await import("../kubernetes/open-contexts.ts")).openContexts;
	const { promise: timeIsUp, resolve } = Promise.withResolvers<undefined>();
	signal.addEventListener("abort", () => resolve(undefined), { once: true });
	// Without the terminal, because a login program would read what the user types at the prompt.
	const answers = opened(flags, env, quiet, { stop: signal, unattended: true }).map(
		async ({ name, namespace, client }) => {
			const found = await Promise.race([listObjects(client, path(namespace), signal), timeIsUp]);
			if (!found) return [];
			const names = found.flatMap((object) => (others ? (others.of(object) ?? []) : { value: object.name }));
			return [{ context: name, names }];
		},
	);
	return (await Promise.all(answers)).flat();
}

async function listObjects(
	client: KubeContext["client"],
	path: string,
	signal: AbortSignal,
): Promise<readonly ListedObject[] | undefined> {
	const list = await client
		.get<unknown>(`${path}?limit=${mostObjects}`, { signal, retry: false, metadataOnly: "list" })
		.catch(() => undefined);
	return isRecord(list) && Array.isArray(list["items"]) ? list["items"].flatMap(readObject) : undefined;
}

function readObject(item: unknown): readonly ListedObject[] {
	const metadata = isRecord(item) ? item["metadata"] : undefined;
	// The cluster is not trusted, and may answer anything.
	if (!isRecord(metadata) || !isName(metadata["name"])) return [];
	const annotations = isRecord(metadata["annotations"]) ? metadata["annotations"] : {};
	const texts = Object.entries(annotations).filter((entry): entry is [string, string] => typeof entry[1] === "string");
	return [{ name: metadata["name"], annotations: Object.fromEntries(texts) }];
}
