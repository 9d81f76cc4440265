// Applies an installation in an order that is safe while rounds run.
//
// Guarantee: the lists of existing members are written in one step. They differ only during this step or, if it fails, until the command is
// repeated. A newcomer gets the new list earlier, so that its agents are ready when the others list it. The agents of two existing members
// are never replaced at once. Nothing is evicted while lists differ, because agents compare them. So the order affects only how long users
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
	/** The ids of the clusters that no cluster has listed so far. */
	readonly joining: ReadonlySet<string>;
	readonly force: boolean;
	/** Waits that must end before the final lists of members are written. They run in parallel. */
	readonly awaited?: readonly (() => Promise<void>)[];
	/** Called after `awaited`. Returns the final lists by context. */
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
	readonly applied: readonly Applied[];
	/** Objects that may have been written: their requests got no answer, or a server error. */
	readonly unsure: readonly UnsureObject[];
	/** One line each. */
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
		// What the other steps need, such as the namespace and rights: all kinds except Secrets, ConfigMaps and Deployments.
		() => Promise.allSettled(fleet.map(async (each) => write(each, isBasis))),
		// The CA's key comes before everything that it signed, because certificates without their CA are useless.
		() => Promise.allSettled(fleet.map(async (each) => write(each, isAuthority))),
		() => Promise.allSettled(fleet.map(async (each) => write(each, (change) => !isAgents(change) && !isList(change)))),
		// Waits for results of the first step, such as the addresses of Services.
		() => Promise.allSettled((options.awaited ?? []).map(async (each) => each())),
		() =>
			Promise.allSettled([
				(async () => {
					finished = (await options.finishLists?.()) ?? finished;
				})(),
			]),
		// Newcomers come first, so that they answer when the others call. From a newcomer's first greeting, the others refuse every
		// eviction until they list it.
		() =>
			Promise.allSettled(
				newcomers.map(async (each) => {
					await write(each, (change) => isAgents(change) || isList(change));
					await wait(each);
				}),
			),
		() => Promise.allSettled(members.map((each) => write(each, isList))),
		// One cluster after the other, so that only one member's agents are starting at a time.
		...members.map(
			(each) => () =>
				Promise.allSettled([
					(async () => {
						await write(each, isAgents);
						await wait(each);
					})(),
				]),
		),
		// No list sends callers to these objects any more.
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

/**
 * Whether a failed request may have been executed: there was no answer, or a server error. A refused connection means that the request
 * never arrived.
 */
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
