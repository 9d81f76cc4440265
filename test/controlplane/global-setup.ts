import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startFleet } from "./fleet.ts";
import { ControlPlaneUnavailableError } from "./setup-error.ts";

/** Starts the fleet that all real-cluster suites share, and ends it after them; its logs stay where a test failed. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
	// Node 24 spins for ever in its own clean-up (FreeEnvironment) where agents were frozen or killed before; a process
	// that exits by itself skips it. All results are written by then.
	process.once("exit", (code) => process.exit(code));
	const dir = mkdtempSync(join(tmpdir(), "xpdb-e2e-"));
	try {
		const fleet = await startFleet({
			clusters: 3,
			nodes: 3,
			dir,
			failPoints: true,
			links: true,
			log: (line) => console.log(line),
		});
		const { octet, kubeconfigPath, contexts } = fleet;
		const clusters = fleet.clusters.map(({ name, id, server, dir: folder, auditLog }) => ({
			name,
			id,
			server,
			dir: folder,
			auditLog,
		}));
		project.provide("fleet", { dir, octet, kubeconfigPath, contexts, clusters });
		return async () => {
			await fleet.stop();
			if (project.vitest.state.getCountOfFailedTests() > 0) {
				console.log(`The fleet's logs and audit logs are in ${dir}`);
			} else {
				rmSync(dir, { recursive: true, force: true });
			}
		};
	} catch (error) {
		if (!(error instanceof ControlPlaneUnavailableError)) throw error;
		rmSync(dir, { recursive: true, force: true });
		console.log(`${error.message}; the tests that need them are skipped`);
		project.provide("fleet", { unavailable: error.message });
		return undefined;
	}
}
