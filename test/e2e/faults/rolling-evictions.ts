// Keeps evicting during faults: in each cluster, one plugin after the other, all under one budget that allows one disruption.
// Checks that the budget held and that each plugin either succeeded or failed before it touched anything.
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { AvailabilitySample } from "../../../demo/audit/availability.ts";
import { sharedFleet } from "../../controlplane/shared-fleet.ts";
import { createDatabase, type Database, type DatabaseOptions } from "../database.ts";
import { type PluginProcess, type PluginResult, startPlugin } from "../plugin-process.ts";

export interface RollingEvictions extends AsyncDisposable {
	readonly database: Database;
	/** Resolves with the time until the next eviction. Rejects after two minutes. */
	nextEvictionMs(): Promise<number>;
	/** Resolves when a plugin next prints something that matches. Rejects after two minutes. */
	printed(pattern: RegExp): Promise<void>;
	/** Lets the running plugins end, checks how they ended, and resolves with the violations. */
	finish(): Promise<readonly AvailabilitySample[]>;
}

export interface RollingOptions extends Partial<DatabaseOptions> {
	readonly environment?: (cluster: string) => Readonly<Record<string, string>>;
}

/** Resolves when each plugin is at work and the first pod has been evicted. */
export async function startRollingEvictions(options: RollingOptions = {}): Promise<RollingEvictions> {
	const { environment, ...rest } = options;
	// A fault of some seconds overlaps several evictions, at several of their steps.
	const annotations = { "bench/ready-after": "700ms" };
	const database = await createDatabase({ replicas: 4, budget: { maxUnavailable: 1 }, annotations, ...rest });
	const temporary = await mkdtemp(join(tmpdir(), "xpdb-faults-"));
	const running = new Set<PluginProcess>();
	const ended: PluginResult[] = [];
	const waiting = new Set<(text: string) => void>();
	const stop = new AbortController();
	let output = "";
	let evicted = 0;

	async function evictAgainAndAgain(cluster: string): Promise<void> {
		const args = ["evict", "-l", "app=db", "-n", database.namespace, "--context", `${cluster}-operator`];
		while (!stop.signal.aborted) {
			const plugin = startPlugin([...args, "--timeout", "10m"], { TMPDIR: temporary, ...environment?.(cluster) });
			running.add(plugin);
			for (const stream of [plugin.child.stdout, plugin.child.stderr]) {
				stream?.on("data", (text: string) => {
					output += text.replaceAll(/^(?=.)/gm, `${cluster}: `);
					evicted += [...text.matchAll(/^pod\/\S+ evicted$/gm)].length;
					for (const listener of waiting) listener(text);
				});
			}
			ended.push(await plugin.finished);
			running.delete(plugin);
		}
	}

	const untilOutput = (what: string, holds: (text: string) => boolean) =>
		new Promise<void>((resolve, reject) => {
			const listener = (text: string) => {
				if (holds(text)) end(resolve);
			};
			const timer = setTimeout(
				() => end(() => reject(new Error(`${what} did not come about within two minutes:\n${output}`))),
				120_000,
			);
			const end = (settle: () => void) => {
				clearTimeout(timer);
				waiting.delete(listener);
				settle();
			};
			waiting.add(listener);
		});
	const rolling: RollingEvictions = {
		database,
		async nextEvictionMs() {
			const before = evicted;
			const startedAt = performance.now();
			await untilOutput("An eviction", () => evicted > before);
			return performance.now() - startedAt;
		},
		printed: (pattern) => untilOutput(`Output that matches ${pattern}`, (text) => pattern.test(text)),
		async finish() {
			stop.abort();
			await everything;
			for (const { code, stderr } of ended) {
				expect([0, 4], output).toContain(code);
				if (code === 4) expect(stderr, output).toContain("nothing was touched");
			}
			await database.ready();
			expect(await readdir(temporary), "temporary folders of the plugin").toEqual([]);
			return database.violations(1);
		},
		async [Symbol.asyncDispose]() {
			stop.abort();
			for (const plugin of running) plugin[Symbol.dispose]();
			await everything;
			await database[Symbol.asyncDispose]();
		},
	};
	const atWork = new Set<string>();
	const everything = Promise.all(sharedFleet().contexts.map((cluster) => evictAgainAndAgain(cluster)));
	try {
		await untilOutput("The first evictions", () => {
			for (const [, cluster = ""] of output.matchAll(/^(c\d+): (?:evicting pod|pod \S+ waits)/gm)) atWork.add(cluster);
			return atWork.size === sharedFleet().contexts.length && evicted > 0;
		});
	} catch (error) {
		await rolling[Symbol.asyncDispose]();
		throw error;
	}
	return rolling;
}
