import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { ForgottenMember } from "../../../disruption/budget/fleet.ts";
import { forgetMember, readMemberLists } from "../../../plugin/install/forget-member.ts";
import { planForgetting } from "../../../plugin/install/forget-plan.ts";
import { ApiError, ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import type { KubeContext } from "../../../plugin/kubernetes/kube-context.ts";
import { UsageError } from "../../../plugin/terminal/errors.ts";
import { newClient, newContext } from "../../support/build-context.ts";

interface Written {
	readonly path: string;
	readonly body: unknown;
}

interface FakeCluster {
	readonly context: KubeContext;
	readonly written: Written[];
	readonly data: Record<string, string>;
	before: (path: string) => void;
}

/** Returns a cluster with this list of members. A write must name the current version. */
function cluster(name: string, data: Readonly<Record<string, string>>): FakeCluster {
	const written: Written[] = [];
	const fake = { data: { ...data }, written, before: (_path: string): void => undefined };
	let version = 1;
	const client = newClient({
		get: (path) =>
			path.endsWith("/kube-system")
				? { metadata: { uid: `id-${name}` } }
				: { metadata: { uid: "map", resourceVersion: String(version), labels: { app: "x" } }, data: { ...fake.data } },
		apply: (path, body) => {
			fake.before(path);
			const { metadata, data: next } = body as { metadata: { resourceVersion: string }; data: Record<string, string> };
			if (metadata.resourceVersion !== String(version))
				throw new ApiError("the object has been modified", { code: 409 });
			if (path.includes("dryRun=All")) return {};
			written.push({ path, body });
			Object.assign(fake.data, next);
			version += 1;
			return {};
		},
		post: (path, body) => {
			fake.before(path);
			if (!path.includes("dryRun=All")) written.push({ path, body });
			return {};
		},
	});
	return Object.assign(fake, {
		context: newContext(name, client),
		edit: (next: Readonly<Record<string, string>>): void => {
			Object.assign(fake.data, next);
			version += 1;
		},
	});
}

const members = (...names: readonly string[]): string =>
	JSON.stringify(names.map((name) => ({ id: `id-${name}`, name, address: `${name}:8444` })));

async function planned(clusters: readonly FakeCluster[], word = "ap", missed: readonly ForgottenMember[] = []) {
	const { lists } = await readMemberLists(clusters.map(({ context }) => context));
	return planForgetting(lists, word, missed);
}

const options = { by: "alice@laptop", now: () => Date.parse("2026-01-01T00:00:00Z"), onForgotten: () => undefined };
const listOf = ({ data }: FakeCluster) => ({
	members: (parse(data["members"] ?? "") as { name: string }[]).map(({ name }) => name),
	forgotten: parse(data["forgotten"] ?? "[]") as unknown,
});

describe("forgetMember()", () => {
	test("takes the member out of every list, names it as forgotten, and tells it beside each list", async () => {
		const [eu, us] = [
			cluster("eu", { members: members("eu", "us", "ap") }),
			cluster("us", { members: members("eu", "us", "ap") }),
		];
		const plan = await planned([eu, us]);
		expect(await forgetMember(plan, { ...options, rehearse: false })).toEqual([]);
		for (const each of [eu, us]) {
			expect(listOf(each)).toEqual({ members: ["eu", "us"], forgotten: [{ id: "id-ap", name: "ap" }] });
			expect(each.written).toHaveLength(2);
			expect(each.written[1]?.body).toMatchObject({
				reason: "MemberForgotten",
				type: "Warning",
				regarding: { apiVersion: "v1", kind: "ConfigMap", namespace: "xpdb-system", name: "xpdb-fleet", uid: "map" },
				note: expect.stringContaining(
					"member ap (id id-ap) was forgotten by alice@laptop: budgets are counted over eu, us",
				),
			});
		}
	});

	test("writes for the very version that it read, and again for the next one where somebody else wrote", async () => {
		const eu = Object.assign(cluster("eu", { members: members("eu", "us", "ap") }));
		const plan = await planned([eu]);
		(eu as unknown as { edit: (data: object) => void }).edit({ members: members("eu", "us", "ap", "sa") });
		expect(await forgetMember(plan, { ...options, rehearse: false })).toEqual([]);
		expect(listOf(eu).members).toEqual(["eu", "us", "sa"]);
		expect(eu.written[0]?.body).toMatchObject({ metadata: { uid: "map", resourceVersion: "2" } });
	});

	test("asks all API servers first, and writes nothing then", async () => {
		const [eu, us] = [
			cluster("eu", { members: members("eu", "us", "ap") }),
			cluster("us", { members: members("eu", "us", "ap") }),
		];
		us.before = (path) => {
			if (path.includes("/events")) throw new ApiError("events is forbidden", { code: 403 });
		};
		const problems = await forgetMember(await planned([eu, us]), { ...options, rehearse: true });
		expect(problems).toEqual([
			{ context: "us", message: "the Event that tells of it could not be written: events is forbidden" },
		]);
		expect([...eu.written, ...us.written]).toEqual([]);
	});

	test("goes on where one of the lists could not be written, and leaves the others as they are then", async () => {
		const [eu, us] = [
			cluster("eu", { members: members("eu", "us", "ap") }),
			cluster("us", { members: members("eu", "us", "ap") }),
		];
		us.before = () => {
			throw new ConnectionError("https://us", new Error("reset"));
		};
		const problems = await forgetMember(await planned([eu, us]), { ...options, rehearse: false });
		expect(problems.map(({ context }) => context)).toEqual(["us"]);
		us.before = () => undefined;
		const again = await planned([eu, us]);
		expect([again.done, again.todo].map((lists) => lists.map(({ context }) => context.name))).toEqual([["eu"], ["us"]]);
		expect(await forgetMember(again, { ...options, rehearse: false })).toEqual([]);
		expect(eu.written).toHaveLength(2);
		expect(listOf(us)).toEqual(listOf(eu));
	});
});

describe("readMemberLists()", () => {
	test("leaves out who gives no answer, by name, and refuses for a right that is missing", async () => {
		const dead = newContext(
			"ap",
			newClient({
				get: () => {
					throw new ConnectionError("https://ap", Object.assign(new Error("refused"), { code: "ECONNREFUSED" }));
				},
			}),
		);
		const eu = cluster("eu", { members: members("eu", "ap") });
		const { lists, silent } = await readMemberLists([eu.context, dead]);
		expect(lists.map(({ clusterId }) => clusterId)).toEqual(["id-eu"]);
		expect(silent.map(({ context }) => context)).toEqual(["ap"]);
		const forbidden = newContext(
			"us",
			newClient({
				get: () => {
					throw new ApiError("configmaps is forbidden", { code: 403 });
				},
			}),
		);
		await expect(readMemberLists([forbidden])).rejects.toThrow(
			"us: cannot read the list of members: configmaps is forbidden",
		);
		const garbled = cluster("sa", { members: "none" });
		await expect(readMemberLists([garbled.context])).rejects.toBeInstanceOf(UsageError);
	});
});

describe("planForgetting()", () => {
	const all = () => ["eu", "us"].map((name) => cluster(name, { members: members("eu", "us", "ap") }));

	test("takes the name or the id of a member, and of one that agents miss", async () => {
		expect((await planned(all(), "ap")).member).toEqual({ id: "id-ap", name: "ap" });
		expect((await planned(all(), "id-ap")).member).toEqual({ id: "id-ap", name: "ap" });
		expect((await planned(all(), "sa", [{ id: "id-sa", name: "sa" }])).member).toEqual({ id: "id-sa", name: "sa" });
		await expect(planned(all(), "sa")).rejects.toThrow("is not a member of the fleet; its members are eu, us, ap");
	});

	test("says who goes on, and who of these has no context here", async () => {
		const [eu] = all();
		const plan = await planned(eu ? [eu] : []);
		expect(plan.survivors.map(({ name }) => name)).toEqual(["eu", "us"]);
		expect(plan.unseen).toEqual(["us"]);
	});

	test("refuses a member whose own cluster answers, a name of two clusters, and to leave a list empty", async () => {
		await expect(planned(all(), "us")).rejects.toThrow("us leads to us itself, which answers");
		const other = cluster("us", { members: members("eu", "us").replace("id-eu", "id-xx") });
		const [eu] = all();
		await expect(planned(eu ? [eu, other] : [], "eu")).rejects.toThrow("is the name of several clusters");
		const alone = cluster("eu", { members: members("ap") });
		await expect(planned([alone])).rejects.toThrow("its list would be empty without ap");
	});
});
