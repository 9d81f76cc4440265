// Names from clusters for the Tab key: kept names at once, others from each cluster that answers in time. What comes too late is requested in
// the background, for the next key.
import { isRecord } from "../../disruption/record.ts";
import type { GlobalFlags } from "../flags/global-flags.ts";
import type { Connection } from "../kubernetes/connection.ts";
import type { KeptNames } from "../kubernetes/kept-names.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { isName } from "../kubernetes/object-name.ts";
import type { openContexts } from "../kubernetes/open-contexts.ts";

/** Of the kinds that a cluster may have thousands of. */
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
	/** Completes something else than the objects' names; `word` tells the kept lists apart. */
	readonly others?: { readonly word: string; readonly of: (object: ListedObject) => Completion | undefined };
}

export interface ContextNames {
	readonly context: string;
	readonly names: readonly Completion[];
}

export interface NameSource {
	/** The contexts of the flags that have an answer, in the order of the flags. */
	list(flags: GlobalFlags, list: NameList): Promise<readonly ContextNames[]>;
}

interface SourceOptions {
	readonly env: NodeJS.ProcessEnv;
	/** The time is up. */
	readonly signal: AbortSignal;
	/** How contexts are opened; for tests. */
	readonly open?: typeof openContexts | undefined;
	/** By which kept names grow old; for tests. */
	readonly wallClock?: (() => number) | undefined;
}

export interface KeySource extends NameSource {
	/** Call it after the answer was written: keeps what the clusters said. True: request names in the background. */
	end(): boolean;
}

/** For the person who waits at the key. */
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
			// An empty list is not kept back: an object may have been created since.
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

/** For the next key: only keeps the names, and lists nothing. */
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

/** Never with a login program, which may ask a person something, and for which nothing is kept. */
function mayAskInBackground({ connection, names }: KeptContext, key: (namespace: string) => string): boolean {
	return names.isDue(key(connection.namespace));
}

/** None if nothing may be kept, because the line has credentials or an impersonation, or if the line is incomplete. Loads no TLS, which takes longest. */
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

/** Each context by itself: a silent one does not delay or drop the others. */
async function ask(
	flags: GlobalFlags,
	{ path, others }: NameList,
	{ env, signal, open }: SourceOptions,
): Promise<readonly ContextNames[]> {
	if (signal.aborted) return [];
	const quiet = { write: () => undefined, columns: undefined };
	// TLS and all that comes with it take as long to load as all else, and words that are known here need none of it.
	const opened = open ?? (await import("../kubernetes/open-contexts.ts")).openContexts;
	const { promise: timeIsUp, resolve } = Promise.withResolvers<undefined>();
	signal.addEventListener("abort", () => resolve(undefined), { once: true });
	// A login program would read what is typed at the prompt, and must not outlive the answer.
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
	// Whoever runs a cluster may answer anything.
	if (!isRecord(metadata) || !isName(metadata["name"])) return [];
	const annotations = isRecord(metadata["annotations"]) ? metadata["annotations"] : {};
	const texts = Object.entries(annotations).filter((entry): entry is [string, string] => typeof entry[1] === "string");
	return [{ name: metadata["name"], annotations: Object.fromEntries(texts) }];
}
