import { booleanFlag, type CommandRunner, textFlag, timeoutFlag } from "../flags/command.ts";
import { type DryRun, parseDryRun } from "../flags/dry-run.ts";
import { allInOrder } from "../install/all-in-order.ts";
import { authoritySecret } from "../install/certificate-objects.ts";
import { type ClusterObject, objectText } from "../install/cluster-object.ts";
import { removeObject } from "../install/find-changes.ts";
import { findInstalled, type InstalledCluster } from "../install/find-installed.ts";
import { type ForeignObjects, findForeignObjects } from "../install/foreign-objects.ts";
import { inAllClusters } from "../install/in-all-clusters.ts";
import { leasesInUse } from "../install/leases-in-use.ts";
import { removeInstallation } from "../install/remove-fleet.ts";
import { removeKeptNames } from "../kubernetes/kept-names.ts";
import { dryRunSuffix } from "../output/dry-run-suffix.ts";
import { refuseSameCluster } from "../kubernetes/same-cluster.ts";
import { unlessOver } from "../kubernetes/unless-over.ts";
import { withContexts } from "../run/with-contexts.ts";
import { confirmName } from "../terminal/confirm-name.ts";
import { counted } from "../terminal/counted.ts";
import { UsageError } from "../terminal/errors.ts";
import { exitCode } from "../terminal/exit.ts";

export const runUninstall: CommandRunner = (input, deps) => {
	const { streams, interrupts } = deps;
	const deleteBudgets = booleanFlag(input, "delete-budgets");
	const timeoutMs = timeoutFlag(input);
	const dryRun = parseDryRun(textFlag(input, "dry-run"), streams.stderr);
	return withContexts(input, deps, async (contexts) => {
		const clusters = await inAllClusters(contexts, findInstalled);
		refuseSameCluster(clusters.map(({ context, id }) => [context.name, id]));
		const isEmpty = clusters.every(({ objects, definition }) => objects.length === 0 && !(deleteBudgets && definition));
		if (isEmpty) {
			streams.stdout.write("There is nothing to remove\n");
			return exitCode.done;
		}
		const foreign = await inAllClusters(clusters, findForeignObjects);
		for (const line of planLines(clusters, foreign, deleteBudgets)) streams.stdout.write(`${line}\n`);
		for (const line of [...foreignWarnings(clusters, foreign), ...memberWarnings(clusters)])
			streams.stderr.write(`Warning: ${line}\n`);
		if (!booleanFlag(input, "force")) {
			refuseLostAuthority(clusters);
			await refuseInUse(clusters);
		}
		if (dryRun !== "none") {
			const lines = await inAllClusters(clusters, async (cluster) =>
				pretendRemoval(cluster, { deleteBudgets, dryRun }),
			);
			for (const line of lines.flat()) streams.stdout.write(`${line}\n`);
			return exitCode.done;
		}
		const name = contexts.map((context) => context.name).join(",");
		const given = booleanFlag(input, "yes") ? name : "";
		if (!(await confirmName({ name, given, flag: "-y", summary: [], signal: interrupts.stop }, streams))) {
			streams.stderr.write("Nothing was touched.\n");
			return exitCode.error;
		}
		interrupts.graceful();
		removeKeptNames(deps.env);
		const results = await Promise.allSettled(
			clusters.map(async (cluster) =>
				removeInstallation(cluster, {
					deleteBudgets,
					timeoutMs,
					signal: interrupts.stop,
					tell: (context, object) => streams.stdout.write(`${context}  ${objectText(object)} deleted\n`),
				}),
			),
		);
		const failed = results.flatMap((result) =>
			result.status === "rejected" ? [problemOf(result.reason, interrupts.stop)] : [],
		);
		for (const problem of failed) streams.stderr.write(`error: ${problem}\n`);
		if (failed.length > 0) {
			streams.stderr.write("What is listed as deleted is gone. Run the same command to continue.\n");
			return interrupts.stoppedBy ?? exitCode.stoppedEarly;
		}
		// After an interruption, do not wait for another look, even though everything has been deleted.
		const after = await unlessOver(Promise.all(contexts.map(findInstalled)), interrupts.stop);
		if (after === undefined) {
			streams.stderr.write(
				"error: interrupted: everything listed above is deleted, but not checked. Run the same command to see what is left.\n",
			);
			return interrupts.stoppedBy ?? exitCode.stoppedEarly;
		}
		for (const cluster of after) for (const line of leftLines(cluster)) streams.stdout.write(`${line}\n`);
		return after.some(({ objects }) => objects.length > 0) ? exitCode.stoppedEarly : exitCode.done;
	});
};

/** Simulates the removal. Only a server-side dry run finds missing permissions and policies that block it. */
async function pretendRemoval(
	{ context, objects, definition }: InstalledCluster,
	{ deleteBudgets, dryRun }: { readonly deleteBudgets: boolean; readonly dryRun: DryRun },
): Promise<readonly string[]> {
	const goes = [...objects, ...(definition && deleteBudgets ? [definition] : [])];
	if (dryRun === "server") {
		await allInOrder(goes.map(async (object) => removeObject(context, object, { dryRun: true })));
	}
	return goes.map((object) => `${context.name}  ${objectText(object)} deleted${dryRunSuffix(dryRun)}`);
}

function planLines(
	clusters: readonly InstalledCluster[],
	foreign: readonly ForeignObjects[],
	deleteBudgets: boolean,
): readonly string[] {
	return clusters.flatMap(({ context, id, objects, keptNamespace, keptCertificates, definition, budgets }, index) => [
		`${context.name} (cluster ${id}): ${objects.length} to delete`,
		...objects.map(({ kind, metadata, ...rest }) => {
			const what = objectText({ kind, metadata, ...rest });
			if (kind === "Namespace") return `  - ${what} with all that is in it`;
			return `  - ${what}${metadata.namespace === undefined ? "" : ` in ${metadata.namespace}`}`;
		}),
		...(foreign[index]?.objects ?? []).map((object) => {
			return `  - ${objectText(object)} in ${context.agents.namespace}: not created by xpdb, goes with the namespace`;
		}),
		...keptCertificates.map((object) => `  = ${objectText(object)} stays: not created by xpdb`),
		...(keptNamespace ? [`  = ${objectText(keptNamespace)} stays: ${whyKept(keptCertificates)}`] : []),
		...(definition && deleteBudgets
			? [`  - ${objectText(definition)} with the ${counted(budgets, "budget")} of this cluster`]
			: []),
		...(definition && !deleteBudgets
			? [`  = ${objectText(definition)} stays with ${counted(budgets, "budget")} (--delete-budgets)`]
			: []),
	]);
}

/** Warns about objects that xpdb did not create, because deleting a namespace also deletes all other objects in it. */
function foreignWarnings(clusters: readonly InstalledCluster[], foreign: readonly ForeignObjects[]): readonly string[] {
	return clusters.flatMap(({ context: { name, agents } }, index) => {
		const { objects = [], unread = [] } = foreign[index] ?? {};
		const where = `namespace ${agents.namespace}`;
		return [
			...(objects.length > 0
				? [`${name}: deletes ${counted(objects.length, "object")} in ${where} that xpdb did not create (listed above)`]
				: []),
			...(unread.length > 0
				? [`${name}: cannot list ${unread.join(", ")} in ${where}: such objects would be deleted without being named`]
				: []),
		];
	});
}

/** Returns the names of members whose clusters keep their agents. */
function stayingMembers(clusters: readonly InstalledCluster[]): readonly string[] {
	const ids = new Set(clusters.map(({ id }) => id));
	const members = clusters.flatMap(({ fleet }) => fleet?.members ?? []);
	return [...new Map(members.flatMap(({ id, name }) => (ids.has(id) ? [] : [[id, name]]))).values()];
}

/** Warns that the remaining members evict nothing until a user forgets the removed members there. */
function memberWarnings(clusters: readonly InstalledCluster[]): readonly string[] {
	const staying = stayingMembers(clusters);
	if (staying.length === 0) return [];
	return [
		`${staying.join(", ")} may still list ${clusters.map(({ context }) => context.name).join(", ")}: ` +
			"until that is forgotten there nothing is evicted in them (docs/operations.md, Members)",
	];
}

/** Refuses to remove the CA's key while members remain, because their certificates cannot be renewed without it. */
function refuseLostAuthority(clusters: readonly InstalledCluster[]): void {
	const staying = stayingMembers(clusters);
	const keeper = clusters.find(({ objects }) =>
		objects.some(({ kind, metadata }) => kind === "Secret" && metadata.name === authoritySecret),
	);
	if (!keeper || staying.length === 0) return;
	const { context } = keeper;
	throw new UsageError(
		`${context.name} keeps the CA of the fleet with its key (Secret ${context.agents.namespace}/${authoritySecret}), which ${staying.join(", ")} still need: nothing was touched`,
		`Move the key first: kubectl xpdb install certs --keep-in=CONTEXT --contexts=${context.name},CONTEXT, or use --force`,
	);
}

async function refuseInUse(clusters: readonly InstalledCluster[]): Promise<void> {
	const used = await Promise.all(
		clusters.map(({ context, fleet }) => leasesInUse(context, fleet?.leaseNamespace ?? context.agents.namespace)),
	);
	const lines = used.flat();
	if (lines.length === 0) return;
	throw new UsageError(
		`evictions are running, nothing was touched: ${lines.join("; ")}`,
		"Wait until they end (unused grants are released within a minute), or use --force",
	);
}

function problemOf(error: unknown, signal: AbortSignal): string {
	if (signal.aborted) return "interrupted";
	if (error instanceof UsageError) return error.hint === undefined ? error.message : `${error.message} (${error.hint})`;
	throw error;
}

function whyKept(keptCertificates: readonly ClusterObject[]): string {
	return keptCertificates.length > 0 ? "contains other objects" : "it was there before";
}

function leftLines({
	context,
	objects,
	keptNamespace,
	keptCertificates,
	definition,
	budgets,
}: InstalledCluster): readonly string[] {
	const left = objects.map((object) => objectText(object));
	return [
		`${context.name}: ${left.length === 0 ? "nothing of xpdb's own is left" : `${left.length} objects are left: ${left.join(", ")}`}`,
		...keptCertificates.map((object) => `${context.name}: ${objectText(object)} stays: not created by xpdb`),
		...(keptNamespace ? [`${context.name}: ${objectText(keptNamespace)} stays: ${whyKept(keptCertificates)}`] : []),
		...(definition
			? [
					`${context.name}: ${objectText(definition)} stays with ${counted(budgets, "budget")}; --delete-budgets takes both away`,
				]
			: []),
	];
}
