// `node test/bench/price.ts [--against CHECKOUT]`: measures the duration, the requests and the processor time of one decision. With another
// checkout, each checkout runs on its own fleet, and the two alternate by eviction. Then only their ratio is meaningful. Both must have
// been built (`npm run build`).
import { writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import yargs from "yargs";
import { hideBin } from "yargs/helpers";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import type { BenchPod } from "./evictor.ts";
import { formatPrices, type Price } from "./price-report.ts";
import { mapRoles, openSide, type RoleTimes, type Side } from "./price-side.ts";
import type { RequestCounts } from "./request-counts.ts";

const blockSize = 20;
const pauseMs = 100;
/** Time for replacements to start and for agents to see them. */
const settleMs = 1_500;

interface Block {
	readonly ms: readonly number[];
	readonly cpu: RoleTimes;
	readonly requests: RequestCounts;
	readonly seconds: number;
}

type Kind = "decision" | "bare" | "idle";

const flags = await yargs(hideBin(process.argv))
	.scriptName("node test/bench/price.ts")
	.option("against", { type: "string", describe: "A checkout to compare with, built" })
	.option("decisions", { type: "number", default: 100, describe: "How many of each" })
	.option("cpu-prof", { type: "string", describe: "Leaves CPU profiles of the agents in this folder" })
	.option("json", { type: "string", describe: "Writes all figures to this file" })
	.strict()
	.version(false)
	.parse();

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort(new Error("Stopped")));

const log = (text: string): void => console.log(text);
const checkouts = [
	{ name: "now", checkout: repositoryRoot, profiles: flags["cpu-prof"] },
	...(flags.against === undefined ? [] : [{ name: "before", checkout: flags.against, profiles: undefined }]),
];
const sides: Side[] = [];
const blocks = new Map<Kind, Map<Side, Block[]>>();
try {
	for (const each of checkouts) sides.push(await openSide({ ...each, signal: stop.signal, log }));
	// Not counted: agents are slower in their first minute.
	for (let block = 0; block < 3; block += 1) await measure("decision");
	for (let done = 0; done < flags.decisions; done += blockSize) {
		for (const kind of ["decision", "bare", "idle"] as const) {
			for (const [side, found] of await measure(kind)) {
				const ofKind = blocks.get(kind) ?? new Map<Side, Block[]>();
				blocks.set(kind, ofKind.set(side, [...(ofKind.get(side) ?? []), found]));
			}
		}
		log(`${Math.min(done + blockSize, flags.decisions)} of ${flags.decisions}`);
	}
	const prices = sides.map((side) => priceOf(side));
	log(`\n${formatPrices(prices)}`);
	if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(prices, undefined, "\t")}\n`);
} catch (error) {
	if (!stop.signal.aborted) throw error;
	process.exitCode = 130;
} finally {
	for (const side of sides) await side.close();
}
process.exit();

/** Runs one block. The sides alternate by eviction. */
async function measure(kind: Kind): Promise<ReadonlyMap<Side, Block>> {
	const pods = new Map<Side, Awaited<ReturnType<Side["ready"]>>>();
	for (const side of sides) pods.set(side, await side.ready());
	const before = new Map<Side, { readonly cpu: ReturnType<Side["cpu"]>; readonly requests: RequestCounts }>();
	for (const side of sides) {
		const requests = await side.requests();
		before.set(side, { requests, cpu: side.cpu() });
	}
	const times = new Map(sides.map((side) => [side, new Array<number>()]));
	const plugin = new Map(sides.map((side) => [side, 0]));
	const startedAt = performance.now();
	for (let turn = 0; turn < blockSize; turn += 1) {
		for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
			stop.signal.throwIfAborted();
			await delay(pauseMs);
			const cpu = process.cpuUsage();
			const turnAt = performance.now();
			await turnOf(kind, side, pods.get(side)?.shift());
			times.get(side)?.push(performance.now() - turnAt);
			const { user, system } = process.cpuUsage(cpu);
			plugin.set(side, (plugin.get(side) ?? 0) + (user + system) / 1_000);
		}
	}
	await delay(settleMs);
	const cpuAfter = new Map(sides.map((side) => [side, side.cpu()]));
	const seconds = (performance.now() - startedAt) / 1_000;
	const found = new Map<Side, Block>();
	for (const side of sides) {
		const [from, to] = [before.get(side), cpuAfter.get(side)];
		if (!from || !to) throw new Error("a side without figures");
		const requests = await side.requests();
		found.set(side, {
			ms: times.get(side) ?? [],
			cpu: minus({ plugin: plugin.get(side) ?? 0, ...to }, { plugin: 0, ...from.cpu }),
			requests: new Map([...requests].map(([what, count]) => [what, count - (from.requests.get(what) ?? 0)])),
			seconds,
		});
	}
	return found;
}

async function turnOf(kind: Kind, side: Side, pod: BenchPod | undefined): Promise<void> {
	if (kind === "idle") return delay(pauseMs);
	if (!pod) throw new Error("the pods have run out");
	await (kind === "decision" ? side.engine : side.bare).evict(pod);
}

function priceOf(side: Side): Price {
	const of = (kind: Kind): readonly Block[] => blocks.get(kind)?.get(side) ?? [];
	const idle = of("idle");
	const idleSeconds = secondsOf(idle);
	// This process does other work for the agents of all sides, so its time counts only during the turns.
	const idlePerSecond = {
		...scaled(totalOf(idle), 1 / idleSeconds),
		plugin: totalOf(idle).plugin / turnSecondsOf(idle),
	};
	const cpu = (kind: Kind): RoleTimes => {
		const beside = scaled(idlePerSecond, secondsOf(of(kind)));
		const spent = minus(totalOf(of(kind)), { ...beside, plugin: idlePerSecond.plugin * turnSecondsOf(of(kind)) });
		return scaled(spent, 1 / countOf(of(kind)));
	};
	const requests = (kind: Kind): RequestCounts => {
		const sums = new Map<string, number>();
		for (const block of of(kind)) {
			for (const [what, count] of block.requests) sums.set(what, (sums.get(what) ?? 0) + count);
		}
		const seconds = secondsOf(of(kind));
		const beside = new Map<string, number>();
		for (const { requests: idleRequests } of idle) {
			for (const [what, count] of idleRequests) beside.set(what, (beside.get(what) ?? 0) + count / idleSeconds);
		}
		return new Map(
			[...sums].map(([what, count]) => [what, (count - (beside.get(what) ?? 0) * seconds) / countOf(of(kind))]),
		);
	};
	return {
		name: side.name,
		agentMb: side.memory(),
		idlePerSecond,
		decision: { ms: of("decision").map(({ ms }) => ms), cpu: cpu("decision"), requests: requests("decision") },
		bare: { ms: of("bare").map(({ ms }) => ms), cpu: cpu("bare"), requests: requests("bare") },
	};
}

function secondsOf(found: readonly Block[]): number {
	return found.reduce((sum, { seconds }) => sum + seconds, 0);
}

function turnSecondsOf(found: readonly Block[]): number {
	return found.flatMap(({ ms }) => ms).reduce((sum, ms) => sum + ms, 0) / 1_000;
}

function countOf(found: readonly Block[]): number {
	return found.reduce((sum, { ms }) => sum + ms.length, 0);
}

function totalOf(found: readonly Block[]): RoleTimes {
	return found.reduce(
		(sum, { cpu }) => minus(sum, scaled(cpu, -1)),
		mapRoles(() => 0),
	);
}

function scaled(times: RoleTimes, by: number): RoleTimes {
	return mapRoles((role) => times[role] * by);
}

function minus(a: RoleTimes, b: RoleTimes): RoleTimes {
	return mapRoles((role) => a[role] - b[role]);
}
