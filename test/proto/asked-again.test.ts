import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { credentials, Metadata, status } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { AgentForbiddenError, AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentCluster } from "../../proto/agent-cluster.ts";
import { createMemberClient } from "../../proto/member-client.ts";
import { type ClusterQuestion, clusterBehind } from "../../proto/forwarding-cluster.ts";
import { AgentServiceClient } from "../../proto/gen/xpdb/v1/agent.ts";
import { RemoteCluster } from "../../proto/remote-cluster.ts";
import { errorOfStatus } from "../../proto/status.ts";
import { budgetListMessage } from "../../proto/wire-calls.ts";
import { budget, clusterId } from "../support/samples.ts";
import { startScriptedAgent } from "../support/scripted-agent.ts";

function askingAgain(calls: AgentCluster): AgentCluster {
	const { id, name } = calls;
	return createMemberClient({ id, name, routes: [{ calls }] });
}

const ways = {
	"ends it": (socket: Socket) => socket.destroy(),
	"resets it": (socket: Socket) => socket.resetAndDestroy(),
};

describe("a list whose connection is dropped before the answer comes", () => {
	for (const [way, drop] of Object.entries(ways)) {
		test(`is asked for again over the next one, where the other side ${way}`, async () => {
			let asked = 0;
			const sockets = new Set<Socket>();
			await using agent = await startScriptedAgent({
				listBudgets: (_, answer) => {
					asked += 1;
					if (asked === 1) for (const socket of sockets) drop(socket);
					else answer(null, budgetListMessage({ clusterId, fleetHash: "hash", budgets: [] }));
				},
			});
			const [host = "", port = ""] = agent.address.split(":");
			const between = createServer((socket) => {
				sockets.add(socket);
				const far = connect(Number(port), host);
				socket.on("error", () => far.destroy()).on("close", () => far.destroy());
				socket.pipe(far).pipe(socket);
			});
			await once(between.listen(0, "127.0.0.1"), "listening");
			const { port: way } = between.address() as AddressInfo;
			const client = new AgentServiceClient(`127.0.0.1:${way}`, credentials.createInsecure());
			const cluster = askingAgain(new RemoteCluster({ id: clusterId, name: "eu", client }));
			try {
				expect(await cluster.listBudgets([])).toMatchObject({ fleetHash: "hash", budgets: [] });
				expect(asked).toBe(2);
			} finally {
				client.close();
				between.close();
			}
		});
	}
});

describe("a question", () => {
	const takeNothing: readonly ClusterQuestion[] = ["describe", "listBudgets", "listLeases", "look"];
	const takeOrDecide = Object.keys(clusterBehind({ id: "", name: "" }, async (put) => put(nobody()))).filter(
		(name): name is ClusterQuestion => !["id", "name", ...takeNothing].includes(name),
	);

	for (const question of takeNothing) {
		test(`${question}: is put again when dropped, also when the next connection does not come about at once`, async () => {
			expect(await outcomeOf(question, ["dropped", "no connection", "answer"])).toEqual({ asked: 3, answer: "answer" });
		});
	}

	for (const question of takeOrDecide) {
		test(`${question}: is put once`, async () => {
			expect(await outcomeOf(question, ["dropped", "answer"])).toEqual({ asked: 1, answer: "no answer" });
		});
	}

	test("counts those that there are", () => expect(takeOrDecide).toHaveLength(9));

	const once: readonly (readonly [string, readonly Attempt[]])[] = [
		["where no connection ever stood", ["no connection", "answer"]],
		["where the agent says nothing in time", ["late", "answer"]],
		["where the agent tells of another one that was dropped", ["told", "answer"]],
		["where the agent refuses", ["refused", "answer"]],
		["where it was dropped late", ["dropped late", "answer"]],
	];
	for (const [when, attempts] of once) {
		test(`is put once ${when}`, async () => {
			expect(await outcomeOf("listBudgets", attempts)).toEqual({ asked: 1, answer: "no answer" });
		});
	}

	test("is not put again for ever, and the last failure is told", async () => {
		const { asked, answer } = await outcomeOf(
			"look",
			Array.from({ length: 100 }, () => "dropped"),
		);
		expect(answer).toBe("no answer");
		expect(asked).toBeGreaterThan(2);
		expect(asked).toBeLessThan(12);
	});

	test("stops at a refusal that comes after a drop", async () => {
		expect(await outcomeOf("listBudgets", ["dropped", "refused", "answer"])).toEqual({ asked: 2, answer: "no answer" });
	});
});

type Attempt = "answer" | "dropped" | "dropped late" | "no connection" | "late" | "told" | "refused";

function nobody(): AgentCluster {
	throw new Error("nobody should be asked");
}

async function outcomeOf(
	question: ClusterQuestion,
	attempts: readonly Attempt[],
): Promise<{ readonly asked: number; readonly answer: string }> {
	let asked = 0;
	const behind = clusterBehind({ id: clusterId, name: "eu" }, async () => {
		const attempt = attempts[asked];
		asked += 1;
		if (attempt === "answer") return JSON.parse('"answer"');
		if (attempt === "dropped late") await delay(1_000);
		throw failure(attempt ?? "late");
	});
	const put = askingAgain(behind)[question];
	const answer = await Promise.resolve(Reflect.apply(put, undefined, [budget, []])).then(
		(value: unknown) => String(value),
		(error: unknown) => {
			expect(error).toBeInstanceOf(attempts[asked - 1] === "refused" ? AgentForbiddenError : AgentUnavailableError);
			return "no answer";
		},
	);
	return { asked, answer };
}

function failure(attempt: Attempt): Error {
	if (attempt === "refused") return new AgentForbiddenError("no");
	const cause = (code: status, details: string) =>
		Object.assign(new Error(details), { code, details, metadata: new Metadata() });
	if (attempt === "told") {
		return new AgentUnavailableError("the connection was dropped", "ap", {
			told: true,
			silent: "unknown",
			cause: cause(status.UNAVAILABLE, "Connection dropped"),
		});
	}
	const said = {
		late: cause(status.DEADLINE_EXCEEDED, "Deadline exceeded after 5s"),
		"no connection": cause(status.UNAVAILABLE, "No connection established. Last error: connect ECONNREFUSED"),
	};
	const error =
		attempt === "late" || attempt === "no connection" ? said[attempt] : cause(status.UNAVAILABLE, "Connection dropped");
	return errorOfStatus(error, { cluster: "eu", call: "ListBudgets" });
}
