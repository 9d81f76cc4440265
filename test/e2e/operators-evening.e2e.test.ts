// Plays an operator's session in a real terminal: a budget blocks a drain of three clusters, and the operator explains, pauses, leaves,
// interrupts and resumes it.
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { type PseudoTerminal, startInTerminal } from "../support/pseudo-terminal.ts";
import { createDatabase, type Database, type Pod } from "./database.ts";
import { getJson } from "./get-json.ts";
import { eventually, kubectl } from "./kubectl.ts";
import { isCordoned, uncordonAll } from "./nodes.ts";

const escapeKey = "\u001b";
const upKey = "\u001b[A";
const ctrlC = "\u0003";

/** The terminal is wide enough for each printed command to fit on one line. */
function start(args: readonly string[]): PseudoTerminal {
	const { dir, kubeconfigPath } = sharedFleet();
	return startInTerminal(join(dir, "bin", "kubectl-xpdb"), args, {
		columns: 140,
		rows: 40,
		env: { KUBECONFIG: kubeconfigPath },
		patienceMs: 3 * 60_000,
	});
}

async function cordonAll(): Promise<void> {
	for (const context of sharedFleet().contexts) await kubectl(context, ["cordon", "-l", "kubernetes.io/hostname"]);
}

async function uncordonOthers(context: string, node: string): Promise<void> {
	const { items } = await getJson<{ readonly items: readonly { readonly metadata: { readonly name: string } }[] }>(
		context,
		"/api/v1/nodes",
	);
	const others = items.map(({ metadata }) => metadata.name).filter((name) => name !== node);
	await kubectl(context, ["uncordon", ...others]);
}

const uids = (pods: readonly Pod[]): readonly string[] => pods.map(({ uid }) => uid).toSorted();

/** Returns those of the pods that are still healthy. */
async function stillThere(database: Database, pods: readonly Pod[]): Promise<readonly Pod[]> {
	const now = await database.pods();
	return pods.filter(({ uid }) => now.some((pod) => pod.uid === uid));
}

describeOnFleet("an operator's evening", () => {
	afterEach(uncordonAll);

	test("a drain that its budget blocks is explained, paused, left, interrupted and resumed; the budget holds", async () => {
		await using database = await createDatabase({ replicas: 1, budget: { maxUnavailable: 1 } });
		const before = await database.pods();
		const nodes = before.map(({ context, node }) => `${context}-operator/${node}`);
		const contexts = ["--contexts", before.map(({ context }) => `${context}-operator`).join(",")];
		// No node takes the first replacement, so the budget stays used up.
		await cordonAll();
		const pods = `--pod-selector=database=${database.namespace}`;
		using evening = start(["drain", ...nodes, ...contexts, "-y", "--ignore-daemonsets", pods]);
		await evening.shows("WAITING 2");
		expect(evening.screen.isAlternate).toBe(true);

		evening.press(`${upKey}e`);
		await evening.shows(`Budget ${database.namespace}/db: 2 of 3 pods have to stay healthy, 2 are; 0 of 1 left`);
		await evening.shows(/Pending.*no node takes it/);
		evening.press("p");
		await evening.shows("PAUSED");
		const waiting = await stillThere(database, before);
		expect(waiting).toHaveLength(2);
		const [first] = before.filter((pod) => !waiting.includes(pod));
		await uncordonOthers(first?.context ?? "", first?.node ?? "");
		// The paused run evicts no pod, although the budget has room again.
		await database.ready();
		expect(await stillThere(database, waiting)).toEqual(waiting);

		evening.press("p");
		await evening.until(() => !evening.screen.lines.join("\n").includes("PAUSED"));
		// The next pod has gone, and the last one waits for its replacement.
		evening.press(escapeKey);
		await evening.shows("WAITING 1");
		await evening.shows("resumed after");
		evening.press("q");
		await evening.shows("Left the view: the run goes on in plain lines, Ctrl-C stops it");
		expect(evening.screen.isAlternate).toBe(false);
		const [last, ...others] = await stillThere(database, waiting);
		expect(others).toEqual([]);
		evening.press(ctrlC);
		expect((await evening.ended).exitCode).toBe(130);
		const [, command = ""] = /Continue: +kubectl xpdb (drain --resume .*)/.exec(evening.screen.lines.join("\n")) ?? [];
		expect(command).toMatch(/^drain --resume [0-9a-f]{6} --contexts=/);
		expect(uids(await stillThere(database, before))).toEqual([last?.uid]);

		for (const { context, node } of before) await uncordonOthers(context, node);
		await eventually("the budget to have room again", async () => (await database.pods()).length === 3);
		using morning = start([...command.trim().split(" "), "-y"]);
		expect((await morning.ended).exitCode).toBe(0);
		expect(morning.screen.isAlternate).toBe(false);
		expect(morning.screen.lines.join("\n")).toMatch(/Done: \d nodes? drained, 0 not/);

		await database.ready();
		expect(await stillThere(database, before)).toEqual([]);
		for (const node of nodes) expect(await isCordoned(node), node).toBe(true);
		expect(await database.violations(1)).toEqual([]);
	});
});
