import { afterAll, beforeAll, describe, test } from "vitest";
import type { ContractCase } from "./contract-case.ts";
import type { ContractTarget } from "./contract-target.ts";
import { ContractWorld } from "./contract-world.ts";
import { deletionCases } from "./deletion-cases.ts";
import { evictionBudgetCases } from "./eviction-budget-cases.ts";
import { evictionCases } from "./eviction-cases.ts";
import { identityCases } from "./identity-cases.ts";
import { leaseCases } from "./lease-cases.ts";
import { listCases } from "./list-cases.ts";
import { patchCases } from "./patch-cases.ts";
import { portForwardCases } from "./port-forward-cases.ts";
import { reviewCases } from "./review-cases.ts";
import { schemaCases } from "./schema-cases.ts";
import { suspensionCases } from "./suspension-cases.ts";
import { watchCases } from "./watch-cases.ts";

const table: Readonly<Record<string, readonly ContractCase[]>> = {
	eviction: evictionCases,
	"eviction under Kubernetes' own budgets": evictionBudgetCases,
	deletion: deletionCases,
	leases: leaseCases,
	lists: listCases,
	watches: watchCases,
	patches: patchCases,
	"kinds and subresources": schemaCases,
	"suspended budgets": suspensionCases,
	identity: identityCases,
	"tokens and reviews": reviewCases,
	"port-forward": portForwardCases,
};

/** Longer than any wait of ContractWorld. */
const caseTimeoutMs = 30_000;

async function expectHolds({ run }: ContractCase, world: ContractWorld): Promise<void> {
	await run(world);
}

/** Tests every kind of call of the plugin, the agents and a user's kubectl, and the API server's answer. */
export function apiServerContract(name: string, connect: () => Promise<ContractTarget>): void {
	describe(`the API server contract of ${name}`, () => {
		let world: ContractWorld;
		beforeAll(async () => {
			world = new ContractWorld(await connect());
			await world.open();
		});
		afterAll(async () => {
			await world?.close();
		});
		for (const [topic, cases] of Object.entries(table)) {
			describe(topic, () => {
				for (const row of cases) test(row.name, { timeout: caseTimeoutMs }, () => expectHolds(row, world));
			});
		}
	});
}
