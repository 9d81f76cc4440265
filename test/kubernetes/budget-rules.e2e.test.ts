// Tests the rules of the CustomResourceDefinition on real API servers. The rules refuse exactly the specs that an agent cannot enforce. A
// stored budget with a broken field still accepts updates of other fields.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiClient, ApiError, applyPatch } from "../../demo/machine/api-client.ts";
import { parseBudgetSpec } from "../../disruption/budget/budget.ts";
import { InvalidBudgetError } from "../../disruption/errors.ts";
import { createAdminClient } from "../controlplane/admin-client.ts";
import { storeBudget } from "../controlplane/etcd-gateway.ts";
import { describeOnFleet, sharedFleet } from "../controlplane/shared-fleet.ts";
import { removeNamespace } from "../e2e/remove-namespace.ts";
import { anyBudgetSpec } from "./any-budget-spec.ts";
import { type BrokenRule, brokenRules } from "./broken-rules.ts";

interface Stored {
	readonly metadata: Record<string, unknown>;
	readonly spec?: Record<string, unknown>;
}

const apiVersion = "x-pdb.form3.tech/v1alpha1";
const kind = "XPodDisruptionBudget";
const noSpec = "spec: Required value: set a selector, and minAvailable or maxUnavailable";
const mergePatch = "application/merge-patch+json";

// In continuous integration, c3 runs the oldest Kubernetes and c2 the newest.
describe.each(["c2", "c3"])("in %s", (name) =>
	describeOnFleet("the rules of the CustomResourceDefinition", () => {
		const namespace = `rules-${process.pid}-${Date.now().toString(36)}`;
		const path = `/apis/${apiVersion}/namespaces/${namespace}/xpoddisruptionbudgets`;
		let api: ApiClient;

		const cluster = () => {
			const found = sharedFleet().clusters.find((each) => each.name === name);
			if (!found) throw new Error(`There is no cluster "${name}"`);
			return found;
		};
		const budget = (spec: unknown) => ({
			apiVersion,
			kind,
			metadata: { name: "judged" },
			...(spec !== undefined && { spec }),
		});
		const judge = (spec: unknown): Promise<Stored | ApiError> =>
			refusalOr(api.send<Stored>("POST", `${path}?dryRun=All`, budget(spec)));

		beforeAll(async () => {
			api = createAdminClient(cluster());
			await api.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
		});
		afterAll(async () => {
			await removeNamespace([name], namespace);
			api.close();
		});

		for (const { rule, spec, says } of [{ rule: "no spec", spec: undefined, says: noSpec }, ...brokenRules]) {
			test(`${rule}: refused by name when it is created`, async () => {
				const refused = await judge(spec);
				expect(refused).toMatchObject({
					status: 422,
					reason: "Invalid",
					message: expect.stringContaining(says) as unknown,
				});
				expect(() => parseBudgetSpec(spec)).toThrow(InvalidBudgetError);
			});
		}

		test("no spec: a stored budget takes a label, and then a spec that is valid", async () => {
			const stored = `${path}/no-spec`;
			await storeBudget(cluster(), { namespace, name: "no-spec" });
			await merge(api, stored, { metadata: { labels: { team: "shop" } } });
			await merge(api, `${stored}/status`, { status: { seen: true } });
			expect(await refusalOr(merge(api, stored, { spec: { suspend: true } }))).toBeInstanceOf(ApiError);
			await merge(api, stored, { spec: { selector: {}, maxUnavailable: 1 } });
			expect(await refusalOr(merge(api, stored, { spec: null }))).toBeInstanceOf(ApiError);
		});

		for (const [index, row] of brokenRules.entries()) {
			test.concurrent(`${row.rule}: a stored budget takes every update that does not touch it`, async () => {
				const stored = `${path}/stored-${index}`;
				await storeBudget(cluster(), { namespace, name: `stored-${index}`, spec: row.spec });
				await expectUpdates(api, stored, row);
			});
		}

		test("judge any spec as an agent does", async () => {
			const seen = { taken: 0, refused: 0 };
			await fc.assert(
				fc.asyncProperty(anyBudgetSpec, async (spec) => {
					const answer = await judge(spec);
					const refusal = answer instanceof ApiError ? answer : undefined;
					expect(refusal?.status ?? 422).toBe(422);
					seen[refusal ? "refused" : "taken"]++;
					// The API server drops unknown fields, so they never reach the agent.
					const judged = answer instanceof ApiError ? spec : answer.spec;
					expect(findRefusal(judged) !== undefined, JSON.stringify({ spec, judged, refusal: refusal?.message })).toBe(
						refusal !== undefined,
					);
				}),
				{ numRuns: 600, seed: 7 },
			);
			expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(100);
		});
	}),
);

async function refusalOr<T>(answer: Promise<T>): Promise<T | ApiError> {
	try {
		return await answer;
	} catch (error) {
		if (error instanceof ApiError) return error;
		throw error;
	}
}

function findRefusal(spec: unknown): string | undefined {
	try {
		parseBudgetSpec(spec);
		return undefined;
	} catch (error) {
		if (error instanceof InvalidBudgetError) return error.message;
		throw error;
	}
}

/** Tries changes that leave the broken field alone, and then changes of that field. */
async function expectUpdates(api: ApiClient, stored: string, { spec, other, fixed }: BrokenRule): Promise<void> {
	await merge(api, stored, { metadata: { labels: { team: "shop" }, finalizers: ["example.com/kept"] } });
	await merge(api, stored, { metadata: { finalizers: null } });
	await merge(api, `${stored}/status`, { status: { seen: true } });
	const suspended = await merge(api, stored, { spec: { suspend: true } });
	expect(suspended.spec).toEqual({ ...spec, suspend: true });
	const applied = { apiVersion, kind, metadata: { name: suspended.metadata["name"] }, spec: { suspend: false } };
	await api.send("PATCH", `${stored}?fieldManager=suspender&force=true`, applied, applyPatch);
	const whole = await api.get<Stored>(stored);
	expect(whole.spec).toEqual({ ...spec, suspend: false });
	await api.send("PUT", stored, { ...whole, spec: { ...whole.spec, suspend: true } });
	expect(await refusalOr(merge(api, stored, { spec: other }))).toBeInstanceOf(ApiError);
	const mended = await merge(api, stored, { spec: fixed });
	expect(findRefusal(mended.spec)).toBeUndefined();
	// A repaired field cannot be broken again.
	expect(await refusalOr(merge(api, stored, { spec: undo(spec, fixed) }))).toBeInstanceOf(ApiError);
}

const merge = (api: ApiClient, path: string, body: object) => api.send<Stored>("PATCH", path, body, mergePatch);

/** Returns a merge patch that restores what `fixed` removed or changed. */
function undo(spec: Readonly<Record<string, unknown>>, fixed: object): object {
	return Object.fromEntries(Object.keys(fixed).map((field) => [field, spec[field] ?? null]));
}
