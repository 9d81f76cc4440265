// Tests an API server that answers one call with an error or not at all. Covers each call of an eviction by the plugin, and each kind of
// call of the agents.
import { expect, test } from "vitest";
import { type ApiCall, type ApiProxy, type CallFault, callFaults } from "../../controlplane/api-proxy.ts";
import { describeOnFleet, sharedFleet } from "../../controlplane/shared-fleet.ts";
import { createDatabase, type Database } from "../database.ts";
import { evictArgs } from "../evict-args.ts";
import { eventually } from "../kubectl.ts";
import { type PluginResult, plugin } from "../plugin-process.ts";
import { startApiProxies } from "./api-proxies.ts";
import { findLeftBehind } from "./left-behind.ts";
import { leaseLimitMs } from "./recovery-limits.ts";
import { startRollingEvictions } from "./rolling-evictions.ts";

/**
 * Each call of the plugin gets each fault in a run of its own. All runs together take one minute on two idle cores, and three minutes while
 * ten other tests run.
 */
const timeout = 15 * 60_000;

describeOnFleet("an API server that answers one call wrongly", () => {
	test("every call of a plugin: it evicts, or says what is wrong before it touched anything", { timeout }, async () => {
		await using proxies = await startApiProxies((cluster) => `plugin->${cluster}`);
		const { contexts } = sharedFleet();
		const share = callFaults.length / contexts.length;
		await Promise.all(
			contexts.map(async (cluster, index) => {
				await using database = await createDatabase({ replicas: 2, budget: { maxUnavailable: 1 } });
				for (const fault of callFaults.slice(index * share, (index + 1) * share)) {
					const calls = await evictWithFaultAtEachCall(cluster, {
						database,
						fault,
						proxy: proxies.byCluster.get(cluster),
					});
					// A complete run makes more calls. Fewer would mean that calls bypass the proxy.
					expect(calls).toBeGreaterThan(6);
				}
				await database.ready();
				expect(await database.violations(1)).toEqual([]);
			}),
		);
	});

	async function evictWithFaultAtEachCall(
		cluster: string,
		{
			database,
			fault,
			proxy,
		}: { readonly database: Database; readonly fault: CallFault; readonly proxy: ApiProxy | undefined },
	): Promise<number> {
		for (let number = 1; ; number += 1) {
			let count = 0;
			let hit: ApiCall | undefined;
			if (proxy) {
				proxy.onCall = (call) => {
					count += 1;
					if (count !== number) return undefined;
					hit = call;
					return fault;
				};
			}
			const args = evictArgs(database, { name: `db-${number % 2}`, context: cluster });
			const result = await plugin([...args, "--timeout", "2m"], {}, { patient: true });
			judge(result, hit === undefined ? "no fault" : `${fault} at call ${number}, ${hit.kind} ${hit.path}`);
			if (hit === undefined) return count;
		}
	}

	test("every kind of call of the agents: evictions go on", async () => {
		await using evictions = await startRollingEvictions();
		await using proxies = await startApiProxies((cluster) => `${cluster}->${cluster}`);
		/** The remaining faults of each kind of call. */
		const ahead = new Map<string, CallFault[]>(often.map((kind) => [kind, [...callFaults]]));
		let lastAt = 0;
		const onCall = ({ kind }: ApiCall): CallFault | undefined => {
			const faults = ahead.get(kind) ?? [...callFaults];
			ahead.set(kind, faults);
			// One fault at a time, when the effect of the previous one has passed.
			if (performance.now() - lastAt < 150) return undefined;
			const fault = faults.shift();
			if (fault !== undefined) lastAt = performance.now();
			return fault;
		};
		for (const proxy of proxies.byCluster.values()) proxy.onCall = onCall;
		const left = () => often.filter((kind) => ahead.get(kind)?.length !== 0);
		await eventually("all faults", async () => left().length === 0, 3 * 60_000).catch(() => undefined);
		expect(left()).toEqual([]);
		for (const proxy of proxies.byCluster.values()) proxy.onCall = () => undefined;
		expect(await evictions.nextEvictionMs()).toBeLessThan(leaseLimitMs());
		expect(await evictions.finish()).toEqual([]);
		expect(await findLeftBehind()).toEqual([]);
	});
});

/** The calls that agents make for each eviction. Other kinds get faults when they occur. */
const often = [
	"GET leases",
	"PUT leases",
	"GET configmaps",
	"GET statefulsets",
	"GET xpoddisruptionbudgets",
	"LIST xpoddisruptionbudgets",
];

/** A run that has begun to evict must succeed. One that fails earlier must say why. */
function judge({ code, stdout, stderr }: PluginResult, what: string): void {
	const begun = stdout.includes("evicting pod");
	const isGood = code === 0 || (!begun && stderr !== "" && !stderr.includes("internal error"));
	expect(isGood, `${what}: exit code ${code}\n${stdout}${stderr}`).toBe(true);
}
