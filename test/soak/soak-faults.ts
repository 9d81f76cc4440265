// The faults of a soak: their names, and how they are chosen at random.
import { componentNames } from "../controlplane/components.ts";
import {
	degradeLink,
	type EndFault,
	freezeAgent,
	freezeComponent,
	killAgent,
	killComponent,
	resetLinkEvery,
} from "../controlplane/faults.ts";
import type { FleetControl } from "../controlplane/fleet-control.ts";
import type { LinkCondition } from "../controlplane/link-proxy.ts";

export interface SoakFault {
	readonly name: string;
	/** The longest time that the fault lasts. */
	readonly seconds: number;
	start(control: FleetControl): Promise<EndFault>;
}

/** Undefined if there is nothing to break. */
type MakeFault = (world: FaultWorld) => Promise<SoakFault | undefined>;

export interface FaultWorld {
	readonly control: FleetControl;
	readonly clusters: readonly string[];
	readonly random: () => number;
	/** Makes the other members forget this one until the fault ends. */
	readonly forget: (cluster: string) => Promise<EndFault>;
}

const conditions: readonly (readonly [name: string, condition: LinkCondition])[] = [
	["black hole there", { blackHole: "there" }],
	["black hole back", { blackHole: "back" }],
	["cut", { cut: true }],
	["slow drip", { bytesPerSecond: 20_000 }],
	["delay of 300 ms", { delayMs: 300 }],
];

/**
 * An acquisition with its count takes three round trips of 800 ms each, which is longer than a handover (2 s). So the time of the handover
 * must start only when the answer is sent.
 */
const slowCountDelayMs = 400;

const makers: readonly MakeFault[] = [
	async ({ clusters, random }) => {
		const cluster = one(clusters, random);
		const component = one(componentNames, random);
		const what = { cluster, component };
		return {
			name: `${component} of ${cluster} frozen`,
			seconds: 10,
			start: (control) => freezeComponent(control, what),
		};
	},
	async ({ clusters, random }) => {
		const cluster = one(clusters, random);
		const component = one(componentNames, random);
		const what = { cluster, component };
		return { name: `${component} of ${cluster} killed`, seconds: 3, start: (control) => killComponent(control, what) };
	},
	async ({ control, random }) => {
		const link = one(await control.listLinks(), random);
		const [name, condition] = one(conditions, random);
		return { name: `link ${link}: ${name}`, seconds: 10, start: (of) => degradeLink(of, link, condition) };
	},
	async ({ control, random }) => {
		const link = one(await control.listLinks(), random);
		return { name: `link ${link}: reset every second`, seconds: 10, start: (of) => resetLinkEvery(of, link, 1_000) };
	},
	async ({ clusters, random }) => {
		const cluster = one(clusters, random);
		const name = `counts of ${cluster} slow`;
		const link = `${cluster}->${cluster}`;
		return { name, seconds: 20, start: (of) => degradeLink(of, link, { delayMs: slowCountDelayMs }) };
	},
	async ({ clusters, random, forget }) => {
		const cluster = one(clusters, random);
		return { name: `member ${cluster} forgotten by the others`, seconds: 15, start: () => forget(cluster) };
	},
	async (world) => {
		const agent = await oneAgent(world);
		if (!agent) return undefined;
		const name = `agent ${agent.pod} of ${agent.cluster} frozen`;
		return { name, seconds: 15, start: (control) => freezeAgent(control, agent) };
	},
	async (world) => {
		const agent = await oneAgent(world);
		if (!agent) return undefined;
		const name = `agent ${agent.pod} of ${agent.cluster} killed`;
		return { name, seconds: 5, start: (control) => killAgent(control, agent) };
	},
];

export async function makeFault(world: FaultWorld): Promise<SoakFault> {
	for (;;) {
		const fault = await one(makers, world.random)(world);
		if (fault) return fault;
	}
}

async function oneAgent({
	control,
	clusters,
	random,
}: FaultWorld): Promise<{ cluster: string; pod: string } | undefined> {
	const cluster = one(clusters, random);
	const agents = await control.listAgents(cluster);
	// An agent that is starting has no process yet.
	const running = agents.filter(({ pid }) => pid !== undefined);
	return running.length > 0 ? { cluster, pod: one(running, random).name } : undefined;
}

function one<T>(items: readonly T[], random: () => number): T {
	const item = items[Math.floor(random() * items.length)];
	if (item === undefined) throw new Error("There is nothing to choose from");
	return item;
}
