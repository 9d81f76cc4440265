import { describe, expect, test } from "vitest";
import type { ClusterObject } from "../../../plugin/install/cluster-object.ts";
import { changeOf, findChanges, type ObjectChange } from "../../../plugin/install/find-changes.ts";
import { ApiError, ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import { newClient, newContext } from "../../support/build-context.ts";
import { newFoundCluster } from "../../support/build-found-cluster.ts";

const metadata = { name: "xpdb", labels: { "xpdb.form3.tech/agent-namespace": "xpdb-system" } };
const roles = (rules: readonly unknown[], kind = "ClusterRole", more: object = {}): ClusterObject => ({
	apiVersion: "rbac.authorization.k8s.io/v1",
	kind,
	metadata: { ...metadata, ...more },
	rules,
});
const reads = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
const writes = { ...reads, verbs: ["patch"] };
const named = (...names: readonly string[]) => names.map((name) => ({ name }));

interface Cluster {
	/** The object as successive reads find it. The last one repeats. */
	readonly there: readonly ClusterObject[];
	readonly forced: ClusterObject | Error;
}

async function change(object: ClusterObject, { there, forced }: Cluster, force = false) {
	const asked: string[] = [];
	let readings = 0;
	const client = newClient({
		get: () => there[Math.min(readings++, there.length - 1)],
		apply: (path) => {
			const query = new URL(path, "https://api.example.com").searchParams;
			asked.push(["dryRun", "force"].map((name) => `${name}=${query.get(name)}`).join(" "));
			if (query.get("force") !== "true") {
				const causes = [{ reason: "FieldManagerConflict", message: 'conflict with "flux"', field: ".rules" }];
				throw new ApiError("conflict", { code: 409, reason: "Conflict", causes });
			}
			if (forced instanceof Error) throw forced;
			return forced;
		},
	});
	const found: ObjectChange = await changeOf(newContext("eu", client), object, force);
	return { found, asked };
}

describe("changeOf(), where somebody else keeps fields", () => {
	const kept = { kind: "kept", conflicts: [".rules, kept by flux"] };

	test("takes them for unchanged where force would change nothing, and writes nothing to know it", async () => {
		const theirs = roles([{ ...reads, byDefault: true }], "ClusterRole", { resourceVersion: "7", generation: 2 });
		const forced = roles([{ byDefault: true, ...reads }], "ClusterRole", { resourceVersion: "7", managedFields: [] });
		const { found, asked } = await change(roles([reads]), { there: [theirs], forced });
		expect(found).toEqual({ kind: "unchanged", object: roles([reads]) });
		expect(asked).toEqual(["dryRun=All force=null", "dryRun=All force=true"]);
	});

	test.each([
		["another value", [writes], [reads]],
		["one value more", [reads, writes], [reads]],
		["another default", [{ ...reads, byDefault: false }], [{ ...reads, byDefault: true }]],
		["the same in another order", named("a", "b"), named("b", "a")],
		["nothing instead", [], [reads]],
	])("names the conflict where they are really others: %s", async (_, theirs, forced) => {
		const { found } = await change(roles([reads]), { there: [roles(theirs)], forced: roles(forced) });
		expect(found).toMatchObject(kept);
	});

	test("names it where a label of ours is gone, though the fields in conflict are alike", async () => {
		const theirs = { ...roles([reads]), metadata: { name: "xpdb" } };
		expect((await change(roles([reads]), { there: [theirs], forced: roles([reads]) })).found).toMatchObject(kept);
	});

	test("names it where somebody changes them in between", async () => {
		const there = [roles([reads]), roles([writes])];
		expect((await change(roles([reads]), { there, forced: roles([reads]) })).found).toMatchObject(kept);
	});

	test("names it where even force is refused, and says so where nobody answers", async () => {
		const refused = new ApiError("denied by policy", { code: 422, reason: "Invalid" });
		expect((await change(roles([reads]), { there: [roles([reads])], forced: refused })).found).toMatchObject(kept);
		const nobody = new ConnectionError("https://api.example.com", new Error("reset"));
		const asking = change(roles([reads]), { there: [roles([reads])], forced: nobody });
		await expect(asking).rejects.toThrow("eu: cannot apply clusterrole.rbac.authorization.k8s.io/xpdb");
	});

	const immutable = new ApiError("roleRef: Invalid value: cannot change roleRef", {
		code: 422,
		reason: "Invalid",
		causes: [{ reason: "FieldValueInvalid", message: "cannot change roleRef", field: "roleRef" }],
	});
	const anew =
		"See who owns it with 'kubectl get role.rbac.authorization.k8s.io/xpdb -n shop -o yaml --context eu'. " +
		"If it is not needed, run 'kubectl delete role.rbac.authorization.k8s.io/xpdb -n shop --context eu', then this command again";

	test("says how to make anew what no force changes, and of a policy's refusal nothing of the kind", async () => {
		const ours = roles([reads], "Role", { namespace: "shop" });
		const { found, asked } = await change(ours, { there: [ours], forced: immutable });
		expect(found).toEqual({ ...kept, object: ours, anew });
		expect(asked).toEqual(["dryRun=All force=null", "dryRun=All force=true"]);
		const denial = { reason: "", message: "denied by policy", field: "" };
		const denied = new ApiError("denied by policy", { code: 422, reason: "Invalid", causes: [denial] });
		expect((await change(ours, { there: [ours], forced: denied })).found).not.toHaveProperty("anew");
	});

	test("refuses by force what no force changes, with the same way out", async () => {
		const ours = roles([reads], "Role", { namespace: "shop" });
		const forcing = change(ours, { there: [ours], forced: immutable }, true);
		await expect(forcing).rejects.toMatchObject({
			message: expect.stringContaining("which is there and cannot become ours: roleRef: Invalid value") as string,
			hint: anew,
		});
	});

	test("leaves a definition to whoever keeps it, and takes by force what differs", async () => {
		const definition = roles([reads], "CustomResourceDefinition");
		const { found, asked } = await change(definition, { there: [definition], forced: definition });
		expect(found).toMatchObject({ kind: "left", why: ".rules, kept by flux; --force-conflicts takes it over" });
		expect(asked).toHaveLength(1);
		const taken = await change(roles([reads]), { there: [roles([writes])], forced: roles([reads]) }, true);
		expect(taken.found).toMatchObject({ kind: "changed", fields: [{ path: "rules" }] });
	});
});

describe("findChanges(), in a namespace that is about to be made", () => {
	const notFound = new ApiError("404 page not found", { code: 404, reason: "NotFound" });
	const namespace: ClusterObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: "xpdb-system" } };
	const certificate: ClusterObject = {
		apiVersion: "cert-manager.io/v1",
		kind: "Certificate",
		metadata: { name: "xpdb-agent", namespace: "xpdb-system" },
	};

	async function changes(kinds: readonly string[] | undefined) {
		const client = newClient({
			get(path) {
				if (path !== "/apis/cert-manager.io/v1" || !kinds) throw notFound;
				return { resources: kinds.map((kind) => ({ kind })) };
			},
			apply(_, object) {
				if ((object as ClusterObject).kind === "Certificate") throw notFound;
				return object;
			},
		});
		const context = newContext("eu", client);
		const found = newFoundCluster(context);
		return findChanges(
			{ found, objects: [namespace, certificate], removed: [], exposure: undefined, settings: {}, change: {} },
			false,
		);
	}

	test("takes what is not found for what is to be created", async () => {
		const found = await changes(["Certificate", "Issuer"]);
		expect(found.changes.map(({ kind }) => kind)).toEqual(["created", "created"]);
	});

	test.each([
		["no such group", undefined],
		["other kinds in it", ["Issuer"]],
	])("refuses before anything is touched a kind that the cluster does not know: %s", async (_, kinds) => {
		await expect(changes(kinds)).rejects.toMatchObject({
			message:
				"eu: cannot apply certificate.cert-manager.io/xpdb-agent: there is no Certificate of cert-manager.io/v1 in this cluster: nothing was touched",
			hint: "Install cert-manager there first ('kubectl api-resources --api-group=cert-manager.io --context eu' then shows its kinds), or do without it: --certs=create",
		});
	});
});
