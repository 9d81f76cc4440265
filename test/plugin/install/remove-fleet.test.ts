import { expect, test } from "vitest";
import { managedByLabel } from "../../../disruption/agent-names.ts";
import { namespaceLabel } from "../../../disruption/lease/lease.ts";
import { removeInstallation } from "../../../plugin/install/remove-fleet.ts";
import { newClient, newContext } from "../../support/build-context.ts";

function leaseStore(leases: Readonly<Record<string, readonly Named[]>>) {
	const kept = new Map(Object.entries(leases).map(([namespace, items]) => [namespace, items]));
	const deleted: string[] = [];
	const applied: unknown[] = [];
	const of = (path: string): string => /namespaces\/([^/]+)\/leases/.exec(path)?.[1] ?? "";
	const client = newClient({
		list: (path) => (path.includes("/leases") ? (kept.get(of(path)) ?? []) : []),
		apply: (_, body) => void applied.push(body),
		delete: (path) => {
			const name = path.split("/").at(-1);
			kept.set(
				of(path),
				(kept.get(of(path)) ?? []).filter(({ metadata }) => metadata.name !== name),
			);
			deleted.push(`${of(path)}/${name}`);
		},
	});
	return { client, deleted, applied };
}

interface Named {
	readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

const ofBudget = {
	metadata: { name: "xpdb-budget-1", labels: { [managedByLabel]: "xpdb-agent", [namespaceLabel]: "shop" } },
};
const ofMembers = { metadata: { name: "xpdb-known-members", labels: { [namespaceLabel]: "" } } };
const foreign = [{ metadata: { name: "xpdb-notes" } }, { metadata: { name: "operator", labels: {} } }];

test("removeInstallation() takes every Lease of ours away and nobody else's, where their namespace stays and where they stand elsewhere", async () => {
	const { client, deleted, applied } = leaseStore({
		"xpdb-system": [ofBudget, ofMembers, ...foreign],
		leases: [ofBudget, ofMembers],
	});
	await removeInstallation(
		{
			context: newContext("eu", client),
			id: "id-eu",
			fleet: { members: [], forgotten: [], leaseNamespace: "leases" },
			objects: [],
			keptNamespace: { apiVersion: "v1", kind: "Namespace", metadata: { name: "xpdb-system" } },
			keptCertificates: [],
			definition: undefined,
			budgets: 0,
		},
		{ deleteBudgets: false, timeoutMs: 10_000, signal: new AbortController().signal, tell: () => undefined },
	);
	expect(deleted).toEqual([
		"xpdb-system/xpdb-budget-1",
		"xpdb-system/xpdb-known-members",
		"leases/xpdb-budget-1",
		"leases/xpdb-known-members",
	]);
	expect(applied).toEqual([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "xpdb-system" } }]);
});
