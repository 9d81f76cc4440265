// Tests two drains of one pod each, over clusters whose API servers answer the reads of a count slowly.
import { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import { describe, expect, test } from "vitest";
import { RecentFleet } from "../../../agent/cluster-api/recent-fleet.ts";
import { PeerClients } from "../../../agent/peers/peer-clients.ts";
import { Peers } from "../../../agent/peers/peers.ts";
import type { CertificateMaterial } from "../../../agent/tls/certificates.ts";
import { PeerIdentity } from "../../../agent/server/peer-identity.ts";
import { createAuthority, issueAgentCertificate } from "../../../demo/machine/certificates.ts";
import type { PodReference } from "../../../disruption/budget/cluster.ts";
import { AgentUnavailableError, LeaseLostError } from "../../../disruption/errors.ts";
import { runRound } from "../../../disruption/round/round.ts";
import type { RoundRuntime } from "../../../disruption/round/round-runtime.ts";
import type { AgentCluster } from "../../../proto/agent-cluster.ts";
import { clusterBehind, forwardingCluster } from "../../../proto/forwarding-cluster.ts";
import { budget, selector } from "../../support/build-count.ts";
import { newController } from "../../support/build-lease.ts";
import { createManualClock, type ManualClock, sleepOn } from "../../support/manual-clock.ts";
import { serverName } from "../../support/served-agent.ts";
import { type SimulatedAgents, settle, simulateCluster } from "../../support/simulated-agent.ts";

const stepMs = 50;
/** More than one, so that each drain queues again while the other has the Leases. */
const grantsEach = 3;
/** How long reading ConfigMap xpdb-fleet takes. */
const readMs = 1_400;

interface SlowFleet {
	readonly clock: ManualClock;
	readonly worlds: readonly SimulatedAgents[];
	readonly clusters: readonly AgentCluster[];
	readonly live: () => void;
	/** Why rounds had to start again. */
	readonly lost: string[];
}

/** Creates clusters in which the reads of a count take this long. Writes of Leases are fast. */
function slowFleet(ids: readonly string[], countMs: number): SlowFleet {
	const clock = createManualClock();
	const fleet = ids.map((id) => ({ id, name: id, address: `${id}:9443` }));
	const worlds = ids.map((clusterId) => simulateCluster({ clusterId, clock, fleet }));
	for (const { server, newPod } of worlds) {
		const controller = newController("db");
		server.putController({ ...controller, namespace: "shop", replicas: 2 });
		for (const name of ["db-0", "db-1"]) newPod(name, { controller });
	}
	const agents = worlds.map((world) => world.newAgent());
	for (const agent of agents) {
		agent.before = async ({ resource }) => {
			if (resource === "fleet") await new Promise<void>((resolve) => void clock.after(countMs, resolve));
		};
	}
	const live = (): void => {
		for (const agent of agents) agent.see();
	};
	return { clock, worlds, clusters: agents.map(({ local }) => local), live, lost: [] };
}

interface SlowPeer {
	readonly clock: ManualClock;
	readonly certificate: PeerCertificate;
	readonly material: CertificateMaterial;
	readonly readMs: number;
}

function runtimeOn(clock: ManualClock, name: string): RoundRuntime {
	let ids = 0;
	return {
		now: () => clock.now(),
		newId: () => `${name}-${++ids}`,
		sleep: (ms, signal) => sleepOn(clock, ms, signal),
	};
}

/** Returns the cluster as reached through another agent. Both agents read their fleets before they let a call pass. */
function throughPeer(cluster: AgentCluster, { clock, certificate, material, readMs }: SlowPeer): AgentCluster {
	const members = [{ id: "own", name: "own" }, ...["eu", "us"].map((id) => ({ id, name: id, address: `${id}:9443` }))];
	const recent = (): RecentFleet =>
		new RecentFleet({
			async getFleet() {
				await new Promise<void>((resolve) => void clock.after(readMs, resolve));
				return { members, forgotten: [] };
			},
			now: () => clock.now(),
		});
	const local = { id: cluster.id, name: cluster.name };
	const identity = new PeerIdentity({ serverName, local, fleet: recent(), wallClock: () => Date.now() });
	const clients = new PeerClients({ certificates: { current: material, onChange: () => () => undefined }, serverName });
	const peers = new Peers({ clients, fleet: recent(), clusterId: "own", clusterName: "own" });
	const admit = async (anew: boolean, renews = false): Promise<void> => {
		const verdict = await identity.check(certificate, { anew, renews });
		if (verdict.kind !== "member") throw new Error(verdict.reason);
	};
	const pass = async (anew: boolean, renews = false): Promise<void> => {
		await peers.member(cluster.id, undefined, { renews });
		await admit(anew, renews);
	};
	const behind = clusterBehind(cluster, async (put, question) => {
		await pass(question === "count" || question === "commit", question === "renew");
		return put(cluster);
	});
	return forwardingCluster(behind, {
		async acquire(request, options) {
			await pass(true);
			let waited = false;
			const sent = Promise.withResolvers<void>();
			const onQueued: typeof options.onQueued = (place) => {
				waited = true;
				options.onQueued?.(place);
			};
			const outcome = await cluster.acquire(request, { ...options, onQueued, answered: sent.promise });
			if (waited) await admit(true);
			sent.resolve();
			return outcome;
		},
	});
}

/** Runs rounds for one pod, as a drain does, until it was granted `grantsEach` times. Each grant is taken back. */
async function drain({ clock, clusters, lost }: SlowFleet, name: string, pod: PodReference): Promise<void> {
	const runtime = runtimeOn(clock, name);
	const { signal } = new AbortController();
	const [first] = clusters;
	if (!first) throw new Error("a fleet has a member");
	const sleep = (ms: number) => runtime.sleep(ms, signal);
	let contended = false;
	for (let grants = 0; grants < grantsEach; ) {
		const candidates = [{ clusterId: first.id, pod }];
		const observer = { queued: () => void (contended = true) };
		const request = { clusters, budgets: [{ name: budget, selector }], holder: name, candidates, signal, contended };
		contended = false;
		const outcome = await runRound({ ...request, observer }, runtime).catch((error: unknown) => {
			if (error instanceof LeaseLostError) return error;
			if (!(error instanceof AgentUnavailableError)) throw error;
			return undefined;
		});
		const verdict = outcome instanceof LeaseLostError ? undefined : outcome?.[0];
		if (verdict?.kind === "granted") {
			grants += 1;
			await first.cancel(budget, [verdict.ticket.id], { sent: false });
		} else if (outcome instanceof LeaseLostError) lost.push(outcome.message);
		else await sleep(1_000);
	}
}

async function pass(fleet: SlowFleet, ms: number, until: () => boolean = () => false): Promise<void> {
	for (let left = ms; left > 0 && !until(); left -= stepMs) {
		fleet.clock.advance(stepMs);
		fleet.live();
		await settle();
		await settle();
	}
}

/** Returns which of the two pods got all their grants within this time. */
async function grantedOf(fleet: SlowFleet, withinMs: number): Promise<readonly string[]> {
	const [world] = fleet.worlds;
	const granted: string[] = [];
	for (const pod of ["db-0", "db-1"]) {
		const found = world?.server.getPod({ namespace: "shop", name: pod });
		if (found?.kind !== "present") throw new Error(`no pod ${pod}`);
		void drain(fleet, `drain of ${pod}`, found.pod).then(() => granted.push(pod));
	}
	await pass(fleet, withinMs, () => granted.length === 2);
	return granted.toSorted();
}

describe("two drains whose counts are slow", () => {
	const rows = [
		{ name: "2.1 s in one cluster", ids: ["eu"], countMs: 2_100, withinMs: 60_000 },
		{ name: "1.4 s in each of three", ids: ["ap", "eu", "us"], countMs: 1_400, withinMs: 60_000 },
		{ name: "7 s in each of two", ids: ["eu", "us"], countMs: 7_000, withinMs: 120_000 },
	];
	for (const { name, ids, countMs, withinMs } of rows) {
		test(`are both granted their pods: ${name}`, async () => {
			const fleet = slowFleet(ids, countMs);
			expect(await grantedOf(fleet, withinMs)).toEqual(["db-0", "db-1"]);
		});
	}

	test("are both granted their pods through agents that read their fleet as slowly before each call", async () => {
		const fleet = slowFleet(["eu", "us"], readMs);
		const authority = await createAuthority("fleet");
		const { certificate: pem, key } = await issueAgentCertificate(authority, { clusterId: "own" });
		const material = { certificate: pem, privateKey: key, ca: authority.certificate };
		const certificate = new X509Certificate(pem).toLegacyObject();
		const clusters = fleet.clusters.map((cluster) =>
			throughPeer(cluster, { clock: fleet.clock, certificate, material, readMs }),
		);
		expect(await grantedOf({ ...fleet, clusters }, 240_000)).toEqual(["db-0", "db-1"]);
		expect(fleet.lost).toEqual([]);
	});
});
