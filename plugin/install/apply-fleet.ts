// The installation itself, in an order that is safe while rounds run.
//
// Guarantee: at no time do members that answer declare different fleets for longer than it takes to write the lists one after the other, and no
// two clusters' agents are replaced at once. While lists differ nothing is evicted (agents compare them), so the order decides how long people
// wait, never whether a budget holds.
import { ApiError, ConnectionError, errorText } from "../kubernetes/api-error.ts";
import { UsageError } from "../terminal/errors.ts";
import type { TextSink } from "../terminal/streams.ts";
import { authoritySecret } from "./certificate-objects.ts";
import { type ClusterObject, objectText } from "./cluster-object.ts";
import { applyObject, type ClusterChanges, isWritten, type ObjectChange, removeObject } from "./find-changes.ts";
import { isFleetList } from "./fleet-objects.ts";
import { installStep } from "./install-step.ts";
import { AgentsNotReadyError, waitForAgents } from "./wait-agents.ts";

export interface ApplyFleet {
	readonly fleet: readonly ClusterChanges[];
	/** The ids of those that no cluster has listed so far. */
	readonly joining: ReadonlySet<string>;
	readonly force: boolean;
	/** What has to be waited for, each for itself, before the lists of members are what they will be. */
	readonly awaited?: readonly (() => Promise<void>)[];
	/** By context, where a list is another one than in `fleet` by then. */
	readonly finishLists?: () => Promise<ReadonlyMap<string, ObjectChange>>;
	readonly timeoutMs: number;
	readonly signal: AbortSignal;
	readonly stdout: TextSink;
	readonly stderr: TextSink;
}

export interface Applied {
	readonly context: string;
	readonly change: ObjectChange;
}

export interface StoppedInstall {
	readonly kind: "stopped";
	/** It stands. */
	readonly applied: readonly Applied[];
	/** What was asked for and not answered: it may be there. */
	readonly unsure: readonly UnsureObject[];
	/** Why, one line each. */
	readonly problems: readonly string[];
}

export interface UnsureObject {
	readonly context: string;
	readonly object: ClusterObject;
}

export type ApplyResult = { readonly kind: "done"; readonly applied: readonly Applied[] } | StoppedInstall;

export async function applyFleet(options: ApplyFleet): Promise<ApplyResult> {
	const { fleet, joining, signal } = options;
	const applied: Applied[] = [];
	const unsure: UnsureObject[] = [];
	const done = new Set<ObjectChange>();
	let finished: ReadonlyMap<string, ObjectChange> = new Map();
	const isJoining = ({ cluster }: ClusterChanges): boolean => joining.has(cluster.found.id);
	const [newcomers, members] = [fleet.filter(isJoining), fleet.filter((each) => !isJoining(each))];
	const write = async (
		{ cluster, changes }: ClusterChanges,
		isMeant: (change: ObjectChange) => boolean,
	): Promise<void> => {
		const { context } = cluster.found;
		const all = changes.map((each) => (isList(each) ? (finished.get(context.name) ?? each) : each));
		for (const change of all.filter((each) => isWritten(each) && isMeant(each) && !done.has(each))) {
			signal.throwIfAborted();
			const applying = applyObject(context, change.object, { dryRun: false, force: options.force });
			const answer = applying.catch((error: unknown) => {
				if (mayBeDone(error)) unsure.push({ context: context.name, object: change.object });
				throw error;
			});
			await installStep(context, `apply ${objectText(change.object)}`, answer);
			applied.push({ context: context.name, change });
			done.add(change);
			options.stdout.write(`${context.name}  ${objectText(change.object)} ${change.kind}\n`);
		}
	};
	const remove = async ({ cluster: { found }, changes }: ClusterChanges): Promise<void> => {
		for (const change of changes.filter(({ kind }) => kind === "removed")) {
			signal.throwIfAborted();
			await removeObject(found.context, change.object, { dryRun: false });
			applied.push({ context: found.context.name, change });
			options.stdout.write(`${found.context.name}  ${objectText(change.object)} deleted\n`);
		}
	};
	const wait = async ({ cluster }: ClusterChanges): Promise<void> => {
		const tell = (line: string): void => options.stderr.write(`${line}\n`);
		await waitForAgents(cluster.found.context, { timeoutMs: options.timeoutMs, signal, tell });
	};

	const steps: readonly (() => Promise<readonly PromiseSettledResult<void>[]>)[] = [
		// Nobody notices these but who asks for them.
		() => Promise.allSettled(fleet.map(async (each) => write(each, isBasis))),
		// The CA's key before anything that it signed: a certificate of a CA that nobody has is worth nothing.
		() => Promise.allSettled(fleet.map(async (each) => write(each, isAuthority))),
		() => Promise.allSettled(fleet.map(async (each) => write(each, (change) => !isAgents(change) && !isList(change)))),
		// Their Services are there since the first step.
		() => Promise.allSettled((options.awaited ?? []).map(async (each) => each())),
		() =>
			Promise.allSettled([
				(async () => {
					finished = (await options.finishLists?.()) ?? finished;
				})(),
			]),
		// Newcomers first, so that they answer when the others ask them; from their first greeting on the others refuse until they list them.
		() =>
			Promise.allSettled(
				newcomers.map(async (each) => {
					await write(each, (change) => isAgents(change) || isList(change));
					await wait(each);
				}),
			),
		() => Promise.allSettled(members.map((each) => write(each, isList))),
		// One cluster after the other, each waited for: two rounds of calls at most go to agents that begin.
		...members.map(
			(each) => () =>
				Promise.allSettled([
					(async () => {
						await write(each, isAgents);
						await wait(each);
					})(),
				]),
		),
		// Nobody is told any more to come that way.
		() => Promise.allSettled(fleet.map(remove)),
	];
	for (const step of steps) {
		const failed = (await step()).flatMap((result) =>
			result.status === "rejected" ? [problemOf(result.reason, signal)] : [],
		);
		if (failed.length > 0) return { kind: "stopped", applied, unsure, problems: failed };
	}
	return { kind: "done", applied };
}

const isAgents = ({ object }: ObjectChange): boolean => object.kind === "Deployment";
const isList = ({ object }: ObjectChange): boolean => isFleetList(object);
const isAuthority = ({ object }: ObjectChange): boolean =>
	object.kind === "Secret" && object.metadata.name === authoritySecret;
const isBasis = (change: ObjectChange): boolean =>
	!isAgents(change) && !["Secret", "ConfigMap"].includes(change.object.kind);

/** Of a request: there is no answer, or one that does not say no. Where nobody listened it never came. */
function mayBeDone(error: unknown): boolean {
	if (error instanceof ConnectionError) return error.code !== "ECONNREFUSED";
	return error instanceof ApiError && error.code >= 500;
}

function problemOf(error: unknown, signal: AbortSignal): string {
	if (signal.aborted) return "interrupted";
	if (error instanceof UsageError) return error.hint === undefined ? error.message : `${error.message} (${error.hint})`;
	if (error instanceof AgentsNotReadyError) return errorText(error);
	throw error;
}
