import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type Fleet, startFleet } from "./fleet.ts";
import { ProgramsUnavailableError } from "./fleet-errors.ts";
import type { SharedFleet } from "./shared-fleet.ts";

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
	return await startSharedFleets(project, []);
}

/**
 * Starts a fleet for each worker, and stops the fleets afterwards. If a test failed, keeps their logs. `oldest` names the clusters that run
 * the oldest Kubernetes.
 */
export async function startSharedFleets(
	project: TestProject,
	oldest: readonly string[],
): Promise<(() => Promise<void>) | undefined> {
	// After agents were frozen or killed, Node 24 spins forever in its clean-up (FreeEnvironment). process.exit() skips that. All results are
	// written by then.
	process.once("exit", (code) => process.exit(code));
	const fleets: Fleet[] = [];
	const stop = () => Promise.all(fleets.map((fleet) => fleet.stop()));
	const removeDirs = () => fleets.forEach(({ dir }) => rmSync(dir, { recursive: true, force: true }));
	try {
		// The first fleet may have to build the control plane for all of them.
		fleets.push(await startSharedFleet(oldest));
		const others = Array.from({ length: project.config.maxWorkers - 1 }, () => startSharedFleet(oldest));
		const results = await Promise.allSettled(others);
		fleets.push(...results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])));
		for (const result of results) if (result.status === "rejected") throw result.reason;
	} catch (error) {
		await stop();
		removeDirs();
		if (!(error instanceof ProgramsUnavailableError)) throw error;
		console.log(`${error.message}; the tests that need them are skipped`);
		project.provide("fleets", { unavailable: error.message });
		return undefined;
	}
	project.provide(
		"fleets",
		fleets.map((fleet) => describeFleet(fleet, oldest)),
	);
	return async () => {
		await stop();
		if (project.vitest.state.getCountOfFailedTests() === 0) removeDirs();
		else console.log(`The logs and audit logs of the fleets are in ${fleets.map(({ dir }) => dir).join(" and ")}`);
	};
}

async function startSharedFleet(oldest: readonly string[]): Promise<Fleet> {
	const dir = mkdtempSync(join(tmpdir(), "xpdb-e2e-"));
	try {
		const log = (line: string) => console.log(line);
		return await startFleet({ clusters: 3, nodes: 3, dir, failPoints: true, isFresh: true, links: true, oldest, log });
	} catch (error) {
		if (error instanceof ProgramsUnavailableError) rmSync(dir, { recursive: true, force: true });
		throw error;
	}
}

function describeFleet(
	{ dir, octet, kubeconfigPath, contexts, clusters }: Fleet,
	oldest: readonly string[],
): SharedFleet {
	return {
		oldest,
		dir,
		octet,
		kubeconfigPath,
		contexts,
		clusters: clusters.map(({ name, id, server, dir: folder, auditLog }) => ({
			name,
			id,
			server,
			dir: folder,
			auditLog,
		})),
	};
}
