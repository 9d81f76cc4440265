// Implements `kubectl xpdb install` and `upgrade`.
import { userAtHost } from "../fleet/holder-identity.ts";
import type { CommandDependencies, CommandInput, CommandRunner } from "../flags/command.ts";
import { agentSettingsLines, settingsWarnings } from "../install/agent-settings/agent-settings-lines.ts";
import { applyFleet } from "../install/apply-fleet.ts";
import { changeLines } from "../install/change-lines.ts";
import { runChecks } from "../check/run-checks.ts";
import { untilStopped } from "../check/until-stopped.ts";
import { passing } from "../check/wait-checks.ts";
import { objectText } from "../install/cluster-object.ts";
import { ofKeptKey, tellKeyUses } from "../install/key-use.ts";
import { exposureLines, lateAddressWarnings, memberWarnings } from "../install/expose/exposure-lines.ts";
import { finishLists } from "../install/expose/finish-lists.ts";
import { waitForAddress } from "../install/expose/wait-address.ts";
import { type ClusterChanges, findChanges, isWritten } from "../install/find-changes.ts";
import { findBudgets } from "../install/found-budgets.ts";
import { findCluster } from "../install/found-cluster.ts";
import { howToGoOn } from "../install/how-to-go-on.ts";
import { inAllClusters } from "../install/in-all-clusters.ts";
import { type InstallOptions, readInstallOptions } from "../install/install-options.ts";
import { InstallStanding } from "../install/install-standing.ts";
import { foundBudgetLines } from "../install/judge-found-budgets.ts";
import { keptHint } from "../install/kept-fields.ts";
import { manifestText, writeManifests } from "../install/manifest-files.ts";
import { neighbourWarnings } from "../install/neighbour-warnings.ts";
import { type PlannedFleet, planFleet } from "../install/planned-fleet.ts";
import { teamText } from "../install/team.ts";
import { accountLabel } from "../install/team-objects.ts";
import { withCertificates } from "../install/with-certificates.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { withContexts } from "../run/with-contexts.ts";
import { askToContinue } from "../terminal/confirm.ts";
import { UsageError } from "../terminal/errors.ts";
import { type ExitCode, exitCode } from "../terminal/exit.ts";
import type { Streams } from "../terminal/streams.ts";
import { waited, writeChecks } from "./check.ts";

/**
 * How long the checks at the end wait for findings that pass by themselves. By then, agents that a drain evicted during an upgrade are back
 * and have found their peers.
 */
const comesToRestMs = 20_000;

export const runInstall: CommandRunner = (input, deps) => setUp("install", input, deps);
export const runUpgrade: CommandRunner = (input, deps) => setUp("upgrade", input, deps);

function setUp(command: "install" | "upgrade", input: CommandInput, deps: CommandDependencies): Promise<ExitCode> {
	const { interrupts, streams } = deps;
	const options = readInstallOptions(input, streams.stderr);
	return withContexts(input, deps, async (contexts) => {
		using standing = new InstallStanding(contexts, interrupts, streams.stderr);
		return await setUpIn(contexts, { command, options, standing }, deps);
	});
}

interface SetUp {
	readonly command: "install" | "upgrade";
	readonly options: InstallOptions;
	readonly standing: InstallStanding;
}

async function setUpIn(
	contexts: readonly KubeContext[],
	{ command, options, standing }: SetUp,
	deps: CommandDependencies,
): Promise<ExitCode> {
	const { streams } = deps;
	const found = await inAllClusters(contexts, findCluster);
	if (command === "upgrade") {
		const [bare] = found.filter(({ image }) => image === undefined);
		if (bare) {
			throw new UsageError(
				`${bare.context.name}: there are no agents in namespace ${bare.context.agents.namespace}: nothing was touched`,
				"Use kubectl xpdb install, or name the agents' namespace with --agent-namespace",
			);
		}
	}
	const uncertified = planFleet(found, options);
	if (options.dryRun === "client") {
		await showClusters(uncertified, options, streams);
		return exitCode.done;
	}
	const { planned, notes, uses } = await withCertificates(uncertified, options.certificates);
	const [fleet, warnings] = await Promise.all([
		inAllClusters(planned.clusters, async (cluster) => findChanges(cluster, options.forceConflicts)),
		inAllClusters(contexts, neighbourWarnings),
	]);
	// List the budgets only if members join or a cluster has warnings. Otherwise, the checks at the end say more.
	const isNews = planned.joining.size > 0 || warnings.flat().length > 0;
	const budgets = isNews ? foundBudgetLines(await findBudgets(contexts)) : [];
	const teams = options.operators.teams.map(teamText);
	const settings = agentSettingsLines(planned.clusters);
	const lines = [...changeLines(fleet), ...settings, ...notes, ...teams, ...exposureLines(planned), ...budgets];
	for (const line of lines) streams.stdout.write(`${line}\n`);
	const warned = [
		...warnings.flat(),
		...memberWarnings(planned),
		...rightWarnings(planned),
		...settingsWarnings(planned.clusters),
	];
	for (const line of warned) streams.stderr.write(`Warning: ${line}\n`);
	refuseConflicts(fleet);
	if (options.dryRun === "server") return exitCode.done;
	const isChanged =
		planned.awaited.size > 0 ||
		fleet.some(({ changes }) => changes.some((change) => isWritten(change) || change.kind === "removed"));
	if (isChanged && !options.assumeYes) {
		const isMeant = await askToContinue("an installation needs a confirmation", deps.interrupts.stop, streams);
		if (!isMeant) {
			streams.stderr.write("Nothing was touched.\n");
			return exitCode.error;
		}
	}
	const told = ofKeptKey(uses);
	const [untold] = await tellKeyUses(contexts, told, { by: userAtHost(), at: Date.now() });
	if (untold !== undefined) throw new UsageError(`${untold}: nothing was touched`);
	standing.phase = "applying";
	deps.interrupts.graceful();
	const addresses = new Map<string, string>();
	const result = await applyFleet({
		fleet,
		joining: planned.joining,
		awaited: planned.clusters.flatMap(({ found: { context, id }, exposure }) =>
			exposure && planned.awaited.has(id)
				? [
						async () => {
							const { address } = await waitForAddress(
								{ context, exposure },
								{
									timeoutMs: options.timeoutMs,
									signal: deps.interrupts.stop,
									tell: (line) => streams.stderr.write(`${line}\n`),
								},
							);
							addresses.set(id, address);
						},
					]
				: [],
		),
		...(planned.awaited.size > 0 && {
			finishLists: () => finishLists(fleet, planned, { addresses, force: options.forceConflicts }),
		}),
		force: options.forceConflicts,
		timeoutMs: options.timeoutMs,
		signal: deps.interrupts.stop,
		stdout: streams.stdout,
		stderr: streams.stderr,
	});
	// The other uses are of a new key or one from a file. They are reported late, because the namespaces may be new.
	const later = uses.filter((use) => !told.includes(use));
	for (const line of await tellKeyUses(contexts, later, { by: userAtHost(), at: Date.now() })) {
		streams.stderr.write(`Warning: ${line}\n`);
	}
	if (result.kind === "stopped") {
		for (const problem of result.problems) streams.stderr.write(`error: ${problem}\n`);
		for (const line of howToGoOn(command, found, result)) streams.stderr.write(`${line}\n`);
		return deps.interrupts.stoppedBy ?? exitCode.stoppedEarly;
	}
	if (!isChanged) streams.stdout.write("Everything is as it should be: nothing was changed\n");
	standing.phase = "checking";
	const { stop } = deps.interrupts;
	const checks = waited(() => runChecks(contexts, { namespace: undefined, now: () => performance.now() }), {
		streams,
		timeoutMs: comesToRestMs,
		failOnWarning: false,
		onlyFor: passing,
		signal: stop,
	});
	try {
		const rows = untilStopped(checks, stop);
		return await writeChecks(rows, deps, { short: true, failOnWarning: false });
	} catch (error) {
		if (!deps.interrupts.stop.aborted) throw error;
		standing.tell();
		return deps.interrupts.stoppedBy ?? exitCode.stoppedEarly;
	}
}

/**
 * Shows or writes the objects without the certificates, which differ each time and contain private keys. With cert-manager, certificates
 * are described by objects without a key, so these are included.
 */
async function showClusters(
	uncertified: PlannedFleet,
	options: InstallOptions,
	{ stdout, stderr }: Pick<Streams, "stdout" | "stderr">,
): Promise<void> {
	const { outputDir, asYaml, certificates } = options;
	const isIssued = certificates.mode === "cert-manager";
	const { clusters } = isIssued ? (await withCertificates(uncertified, certificates)).planned : uncertified;
	if (!isIssued) {
		stderr.write(
			"Warning: the certificates are not among the objects (Secret xpdb-agent-tls, ConfigMap xpdb-ca): make them in each cluster before, or use --certs=cert-manager\n",
		);
	}
	const warnings = [...lateAddressWarnings(clusters, uncertified), ...memberWarnings(uncertified)];
	for (const line of [...warnings, ...settingsWarnings(clusters)]) stderr.write(`Warning: ${line}\n`);
	for (const line of agentSettingsLines(clusters)) stderr.write(`${line}\n`);
	if (outputDir !== undefined) {
		for (const path of writeManifests(clusters, outputDir)) stdout.write(`${path}\n`);
		return;
	}
	for (const [index, cluster] of clusters.entries()) {
		if (asYaml) {
			stdout.write(`${index > 0 ? "---\n" : ""}${manifestText(cluster)}`);
			continue;
		}
		for (const object of cluster.objects) {
			stdout.write(`${cluster.found.context.name}  ${objectText(object)} (dry run)\n`);
		}
	}
}

function rightWarnings({ keptRights }: PlannedFleet): readonly string[] {
	return keptRights.map(({ context: { name, suggest }, account, namespace }) => {
		const take = ["delete", "role,rolebinding", "-n", namespace, "-l", `${accountLabel}=${account}`];
		return (
			`${name}: account ${account} goes on deciding about the budgets of ${namespace}, which --operators does not name. ` +
			`To take that away: ${suggest.kubectl(take, name)}`
		);
	});
}

function refuseConflicts(fleet: readonly ClusterChanges[]): void {
	const kept = fleet.flatMap(({ cluster, changes }) =>
		changes.flatMap((change) =>
			change.kind === "kept" ? [{ what: `${cluster.found.context.name}: ${objectText(change.object)}`, change }] : [],
		),
	);
	if (kept.length === 0) return;
	throw new UsageError(
		`fields that would change are managed by others (! above): ${kept.map(({ what }) => what).join(", ")}: nothing was touched`,
		keptHint(kept.map(({ change }) => change)),
	);
}
