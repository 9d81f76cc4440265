// Tests that docs/design.md lists the files through which the eviction of one covered pod goes, from the command line to the request.
// Compares them with the calls of one eviction.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createMemberClient } from "../../proto/member-client.ts";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { readSource } from "../architecture/source-files.ts";
import { newRun } from "../support/eviction-run.ts";
import { FakeFleet } from "../support/fake-fleet.ts";
import { AnswerUnions } from "./answer-unions.ts";

const section =
	readSource("docs/design.md")
		.split(/^## /m)
		.find((each) => each.startsWith("One pod's way\n")) ?? "";
const listed = [...section.matchAll(/^\| \d+ \| `([^`]+)` \|/gm)].map(([, path = ""]) => path);

/** The eviction's own code, without the clients, events and texts that it uses. */
const engine = /^(?:plugin\/evictions|disruption\/round|proto\/member-client)/;

/** Returns the files on the call stacks of all requests for one covered pod, in the order in which they first appear. */
async function recordWay(): Promise<readonly string[]> {
	const fleet = new FakeFleet(["eu", "us"]);
	fleet.addBudget("db", { maxUnavailable: 1 });
	const eu = fleet.member("eu");
	const pod = eu.addPod("db-0");
	fleet.member("us").addPod("db-0");
	const seen = new Set<string>();
	const record = (): void => {
		const limit = Error.stackTraceLimit;
		Error.stackTraceLimit = 200;
		const lines = (new Error("here").stack ?? "").split("\n");
		Error.stackTraceLimit = limit;
		for (const line of lines.toReversed()) {
			const path = /\/((?:plugin|disruption|proto)\/[\w/-]+\.ts)/.exec(line)?.[1];
			if (path !== undefined && engine.test(path)) seen.add(path);
		}
	};
	fleet.onList = record;
	fleet.onEviction = record;
	const clients = fleet.members.map((member) => {
		const acquire = member.acquire.bind(member);
		const commit = member.commit.bind(member);
		member.acquire = (...asked) => (record(), acquire(...asked));
		member.commit = (...asked) => (record(), commit(...asked));
		return createMemberClient({ id: member.id, name: member.name, routes: [{ calls: member }] });
	});
	const run = newRun(fleet, {
		fleet: {
			members: clients,
			memberOf: (context) => clients.find(({ name }) => name === context),
			listBudgets: (namespaces) => fleet.listBudgets(namespaces),
			reconnect: () => fleet.reconnect(),
		},
	});
	expect(await run.evictions.evict(run.job(eu, pod))).toEqual({ kind: "evicted" });
	return [...seen];
}

describe("the way of one covered pod", () => {
	test("is at most 18 files, all of which are there", () => {
		expect(listed.length).toBeGreaterThan(10);
		expect(listed.length).toBeLessThanOrEqual(18);
		expect(listed.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
	});

	test("passes those on which its questions stand, in this order", async () => {
		const way = await recordWay();
		expect(listed.filter((path) => way.includes(path))).toEqual(way);
	});

	test("has at most six kinds of answers about the pod, which are all named", () => {
		const first = listed.indexOf("plugin/evictions/evictions.ts");
		const answers = new AnswerUnions().of(listed.slice(first));
		expect(first).toBeGreaterThan(0);
		expect(answers.length).toBeGreaterThan(3);
		expect(answers.length).toBeLessThanOrEqual(6);
		const named = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = ""]) => name);
		expect(named.toSorted()).toEqual(answers);
	});

	test("begins with files that those before them load or import", () => {
		const beginning = listed.slice(
			0,
			listed.findIndex((path) => engine.test(path)),
		);
		expect(beginning.length).toBeGreaterThan(2);
		for (const [index, path] of beginning.entries()) {
			const name = `/${path.split("/").at(-1)}"`;
			const before = beginning.slice(0, index).map(readSource);
			const isLoaded = before.some((text) => text.includes(name) || text.includes("parsed.command.load()"));
			expect(index === 0 || isLoaded, path).toBe(true);
		}
	});
});
