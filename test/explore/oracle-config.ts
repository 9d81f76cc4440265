// Reads what budgets, scales and fleets demand at one time, without the code under test, for the judge.
import type { SimulatedCluster } from "./simulated-cluster.ts";
import { namespace, type Workload } from "./workload.ts";

/** The declarations of one cluster at one time. */
export interface ClusterConfig {
	readonly id: string;
	/** Sorted ids of the cluster's fleet (SimulatedCluster.fleet). */
	readonly fleet: readonly string[];
	readonly budgets: ReadonlyMap<string, RawBudget>;
	/** Returns the number of expected pods under this selector. */
	expected(selector: Labels): number;
}

/** All clusters at one time, in their order. */
export type Config = readonly (ClusterConfig & { readonly revision: number })[];

export type Labels = Readonly<Record<string, string>>;

export function configOf(clusters: readonly SimulatedCluster[]): Config {
	return clusters.map(({ server, workloads, fleet }) => {
		const scales = workloads.map((workload) => ({ ...scaleOf(workload) }));
		return {
			id: server.clusterId,
			fleet,
			revision: server.revision,
			budgets: new Map(server.listBudgets(namespace).map(({ name, spec }) => [name.name, spec as RawBudget])),
			expected: (selector) =>
				scales.reduce((sum, { labels, pods, each }) => {
					const selected = labels.filter((own) => matches(selector, own)).length;
					return sum + (each ? selected : selected > 0 ? pods : 0);
				}, 0),
		};
	});
}
/**
 * Returns the expected pods of a workload. A controller with a scale expects its replicas under every selector that selects one of its
 * unfinished pods. While it has no such pod, the selector must select its spec's labels. Other pods are expected one by one while they
 * exist and have not finished. A pod that never had a controller stays expected after a round has evicted it. If a controller is deleted
 * while one of its pods is gone, the fleet expects fewer pods from then on.
 */
function scaleOf(workload: Workload): {
	readonly labels: readonly Labels[];
	readonly pods: number;
	readonly each: boolean;
} {
	const { spec, slots, emptied, hasScale, replicas } = workload;
	const labels = slots.flatMap((slot): readonly Labels[] => {
		const pod = workload.podIn(slot);
		return pod && !pod.finished && !emptied.has(slot) ? [pod.labels] : [];
	});
	if (hasScale) return { labels: labels.length > 0 ? labels : [spec.labels], pods: replicas, each: false };
	return { labels: [...labels, ...[...emptied].map(() => spec.labels)], pods: 0, each: true };
}

/** Returns the configs of all members side by side, each member from its own time on, up to the last config. */
export function configsFrom(configs: readonly Config[], from: readonly number[]): readonly Config[] {
	const first = Math.min(...from);
	return configs
		.slice(first)
		.map((_, after) => from.flatMap((own, member) => configs[Math.max(own, first + after)]?.[member] ?? []));
}

/** Returns each fleet that this cluster and all members of the fleet declared, each at one of these times. */
export function fleetsAt(configs: readonly Config[], own: number): readonly (readonly string[])[] {
	const declared = new Map(configs.map((config) => config[own]?.fleet ?? []).map((fleet) => [fleet.join(), fleet]));
	return [...declared].flatMap(([text, fleet]) => {
		const agrees = (member: string): boolean =>
			configs.some((config) => config.some(({ id, fleet: its }) => id === member && its.join() === text));
		return fleet.every(agrees) ? [fleet] : [];
	});
}

export function ofFleet(configs: readonly Config[], fleet: readonly string[]): readonly Config[] {
	return configs.map((config) => config.filter(({ id }) => fleet.includes(id)));
}

/** Returns every budget with every selector that a member gives it. */
export function selectorsOf(config: Config): readonly { readonly budget: string; readonly selector: Labels }[] {
	const found = new Map<string, { readonly budget: string; readonly selector: Labels }>();
	for (const { budgets } of config) {
		for (const [budget, { selector }] of budgets) {
			found.set(`${budget} ${textOf(selector.matchLabels)}`, { budget, selector: selector.matchLabels });
		}
	}
	return [...found.values()];
}

/**
 * Returns the least number of healthy pods that a caller could have read as required, if it asked each member at one of these times. The
 * result is the strictest of the members' own least bounds, over the least expected pods. Undefined if each member had, at one of these
 * times, no budget of this name with this selector. Also undefined if each member had, at one of these times, no budget of this name, or a
 * suspended one.
 */
export function leastDesired(
	configs: readonly Config[],
	budget: string,
	selector: Labels,
	/** The times at which scales were asked for, if they differ from those of the budgets. */
	scaled = configs,
): number | undefined {
	const membersOf = (times: readonly Config[]) =>
		(times[0] ?? []).map((_, index) => times.flatMap((config) => config[index] ?? []));
	const members = membersOf(configs);
	const specs = members.map((times) => times.map(({ budgets }) => budgets.get(budget)));
	const covers = (spec: RawBudget | undefined): boolean =>
		spec !== undefined && textOf(spec.selector.matchLabels) === textOf(selector);
	if (specs.every((times) => times.some((spec) => !covers(spec)))) return undefined;
	if (specs.every((times) => times.some((spec) => !spec || spec.suspend))) return undefined;
	const expected = membersOf(scaled).reduce(
		(sum, times) => sum + Math.min(...times.map((time) => time.expected(selector))),
		0,
	);
	const least = specs.map((times) => Math.min(...times.map((spec) => (spec ? desiredHealthy(spec, expected) : 0))));
	return Math.max(...least);
}

interface RawBudget {
	readonly selector: { readonly matchLabels: Labels };
	readonly minAvailable?: number | string;
	readonly maxUnavailable?: number | string;
	readonly suspend?: boolean;
}

// Deliberately does not use the functions of disruption/, because those are under test.
function desiredHealthy({ minAvailable, maxUnavailable }: RawBudget, expected: number): number {
	const pods = (quantity: number | string): number =>
		typeof quantity === "number" ? quantity : Math.ceil((Number.parseInt(quantity, 10) * expected) / 100);
	if (minAvailable !== undefined) return pods(minAvailable);
	return Math.max(0, expected - pods(maxUnavailable ?? 0));
}

/** Labels never change here, so each object is formatted once. */
const texts = new WeakMap<Labels, string>();

function textOf(labels: Labels): string {
	let text = texts.get(labels);
	if (text === undefined) texts.set(labels, (text = JSON.stringify(labels)));
	return text;
}

export function matches(selector: Labels, labels: Labels): boolean {
	return Object.entries(selector).every(([key, value]) => labels[key] === value);
}
