import { credentials, Server, ServerCredentials, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentServiceClient, AgentServiceService } from "../../proto/gen/xpdb/v1/agent.ts";
import { type CallObserver, observeCalls } from "../../proto/observe-calls.ts";
import { describeAgent } from "../../proto/remote-cluster.ts";

const told: unknown[] = [];
const observer: CallObserver = {
	begin: (path) => ({
		headers: (headers) => void told.push(["headers", path, Object.keys(headers)]),
		sent: (message) => void told.push(["sent", message]),
		received: (message) => void told.push(["received", message]),
		ended: (code, details) => void told.push(["ended", code, details]),
	}),
};

const server = new Server();
let client: AgentServiceClient;

beforeAll(async () => {
	server.addService(AgentServiceService, {
		describe: (_: unknown, answer: (error: object) => void) =>
			answer({ code: status.FAILED_PRECONDITION, details: "not now" }),
		listBudgets: (_: unknown, answer: (error: null, message: object) => void) =>
			answer(null, { clusterId: "id-eu", fleetHash: "h", budgets: [] }),
	});
	const port = await new Promise<number>((resolve, reject) => {
		server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
			error ? reject(error) : resolve(bound),
		);
	});
	client = new AgentServiceClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
		interceptors: [observeCalls(observer)],
	});
});

afterAll(() => {
	client.close();
	server.forceShutdown();
});

test("a call is told from its headers to its end, and goes on as if nobody looked", async () => {
	told.length = 0;
	const answer = await new Promise((resolve, reject) => {
		client.listBudgets({ clusterId: "id-eu", namespaces: ["shop"] }, (error, response) =>
			error ? reject(error) : resolve(response),
		);
	});
	expect(answer).toEqual({ clusterId: "id-eu", fleetHash: "h", budgets: [] });
	expect(told).toEqual([
		["headers", "/xpdb.v1.AgentService/ListBudgets", []],
		["sent", { clusterId: "id-eu", namespaces: ["shop"] }],
		["received", answer],
		["ended", "OK", "OK"],
	]);
});

test("a call that fails is told with its code and why", async () => {
	told.length = 0;
	await expect(describeAgent(client, { name: "eu" })).rejects.toThrow("not now");
	expect(told.at(-1)).toEqual(["ended", "FAILED_PRECONDITION", "not now"]);
});
