import { describe, expect, test } from "vitest";
import { type ClusterQuestion, clusterBehind, forwardingCluster } from "../../proto/forwarding-cluster.ts";
import { FakeFleet, namespace } from "../support/fake-fleet.ts";

const budget = { namespace, name: "db" };

function newMember() {
	const [member] = new FakeFleet(["eu"]).members;
	if (!member) throw new Error("no member");
	return member;
}

describe("clusterBehind()", () => {
	test("puts each question as it was asked, under its own name", async () => {
		const member = newMember();
		const seen: unknown[][] = [];
		const questions: ClusterQuestion[] = [];
		const behind = clusterBehind({ id: "id-eu", name: "eu" }, async (put, question) => {
			questions.push(question);
			return put(
				new Proxy(member, {
					get:
						(_, method) =>
						async (...asked: unknown[]) =>
							void seen.push([method, ...asked]),
				}),
			);
		});
		const methods = Object.entries(behind).filter(([, method]) => typeof method === "function");
		for (const [name, method] of methods) await Reflect.apply(method, behind, [`${name} first`, "second", "third"]);
		expect(questions).toHaveLength(13);
		for (const [index, question] of questions.entries())
			expect(seen[index]?.slice(0, 2)).toEqual([question, `${question} first`]);
	});
});

describe("forwardingCluster()", () => {
	test("answers what it is given itself, and asks the cluster the rest", async () => {
		const member = newMember();
		const cluster = forwardingCluster(member, { confirm: async () => false });
		expect(cluster).toMatchObject({ id: member.id, name: "eu" });
		expect(await cluster.confirm(budget, [])).toBe(false);
		expect(await member.confirm(budget, [])).toBe(true);
		expect(await cluster.describe()).toEqual(member.description);
	});
});
