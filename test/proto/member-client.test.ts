import { expect, test } from "vitest";
import { AgentUnavailableError, LeaseLostError } from "../../disruption/errors.ts";
import { createMemberClient } from "../../proto/member-client.ts";
import { FakeFleet } from "../support/fake-fleet.ts";

function newRoutes() {
	const [direct, other] = new FakeFleet(["direct", "other"]).members;
	if (!direct || !other) throw new Error("no members");
	return {
		direct,
		other,
		cluster: createMemberClient({ id: "x", name: "x", routes: [{ calls: direct }, { calls: other }], tries: 3 }),
	};
}

const budget = { namespace: "shop", name: "db" };

test("a call without an answer fails, the next one goes another way, and back again", async () => {
	const { direct, other, cluster } = newRoutes();
	direct.isDown = true;
	await expect(cluster.confirm(budget, [])).rejects.toBeInstanceOf(AgentUnavailableError);
	expect(await cluster.confirm(budget, [])).toBe(true);
	direct.isDown = false;
	other.isDown = true;
	await expect(cluster.confirm(budget, [])).rejects.toBeInstanceOf(AgentUnavailableError);
	expect(await cluster.confirm(budget, [])).toBe(true);
});

test("the question who the member is goes another way by itself, three times in all", async () => {
	const { direct, other, cluster } = newRoutes();
	direct.isDown = true;
	expect(await cluster.describe()).toMatchObject({ clusterId: other.id });
	other.isDown = true;
	let asked = 0;
	for (const calls of [direct, other]) {
		const describe = calls.describe.bind(calls);
		calls.describe = (...rest) => {
			asked += 1;
			return describe(...rest);
		};
	}
	await expect(cluster.describe()).rejects.toBeInstanceOf(AgentUnavailableError);
	expect(asked).toBe(3);
});

test("calls that fail together change the way once", async () => {
	const { direct, cluster } = newRoutes();
	direct.isDown = true;
	await Promise.allSettled([1, 2, 3, 4].map(() => cluster.confirm(budget, [])));
	expect(await cluster.confirm(budget, [])).toBe(true);
});

test("an answer that says no is no reason to go another way", async () => {
	const { direct, cluster } = newRoutes();
	direct.renew = async () => {
		throw new LeaseLostError("lost");
	};
	const acquisition = { budget, leaseUid: "u", leaseTransitions: 1, nonce: "n" };
	await expect(cluster.renew(acquisition)).rejects.toBeInstanceOf(LeaseLostError);
	direct.isDown = true;
	await expect(cluster.confirm(budget, [])).rejects.toBeInstanceOf(AgentUnavailableError);
});

test("questions in crowds go a few at a time, and each is answered, also where some fail", async () => {
	const { direct, cluster } = newRoutes();
	let open = 0;
	let most = 0;
	let asked = 0;
	direct.confirm = async () => {
		asked += 1;
		const isWrong = asked % 7 === 0;
		open += 1;
		most = Math.max(most, open);
		await new Promise((resolve) => {
			setImmediate(resolve);
		});
		open -= 1;
		if (isWrong) throw new LeaseLostError("lost");
		return true;
	};
	const answers = await Promise.allSettled(Array.from({ length: 100 }, () => cluster.confirm(budget, ["id"])));
	expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(86);
	expect(most).toBe(24);
	expect(await cluster.confirm(budget, ["id"])).toBe(true);
});
