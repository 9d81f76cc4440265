import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { accessAgents } from "../../../plugin/fleet/agent-access.ts";
import { AgentDialer, type AgentPod } from "../../../plugin/fleet/agent-pods.ts";
import { connectAhead } from "../../../plugin/fleet/connect-ahead.ts";
import { dialLastAgent } from "../../../plugin/fleet/last-agent.ts";
import type { KubeContext } from "../../../plugin/kubernetes/kube-context.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";
import { type ForwardingServer, startForwardingServer } from "../../support/forwarding-server.ts";

const anchor = "xpdb-system";

function newAgent(name: string, fields: Partial<AgentPod> = {}): AgentPod {
	return { namespace: anchor, name, uid: `uid-${name}`, ready: true, port: 8443, ...fields };
}

let stack: DisposableStack;
let api: ForwardingServer;
beforeEach(async () => {
	stack = new DisposableStack();
	const echo = createServer((socket) => socket.on("error", () => socket.destroy()).pipe(socket));
	stack.defer(() => void echo.close());
	echo.listen(0, "127.0.0.1");
	await once(echo, "listening");
	api = stack.use(await startForwardingServer((echo.address() as AddressInfo).port));
});
afterEach(() => stack.dispose());

async function newSocket(): Promise<{ readonly near: Socket; readonly far: Socket }> {
	const server = createServer({ pauseOnConnect: true });
	stack.defer(() => void server.close());
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const accepted = once(server, "connection") as Promise<[Socket]>;
	const near = connect((server.address() as AddressInfo).port, "127.0.0.1");
	stack.defer(() => near.destroy());
	const [far] = await accepted;
	return { near, far };
}

const up = (): boolean => true;

function contextOf(calls: Parameters<typeof newClient>[0] = {}): KubeContext {
	const client = newClient({ post: () => ({ status: { token: "abc" } }), ...calls });
	return newContext("eu", { ...client, webSocket: (path, protocol) => api.client.webSocket(path, protocol) });
}

async function waysTo(pods: readonly AgentPod[]) {
	const begun = await connectAhead(contextOf(), { pods: Promise.resolve(pods) });
	return begun?.ahead;
}

const dialed = (): readonly string[] => api.paths.map((path) => /pods\/([^/]+)/.exec(path)?.[1] ?? "");
const closed = (): readonly boolean[] => [...api.sockets].map(({ readyState }) => readyState === WebSocket.CLOSED);

describe("a connection that was dialed ahead", () => {
	test("is the first one, and the next one is a new one", async () => {
		const pods = [newAgent("a"), newAgent("b")];
		const dialer = new AgentDialer(api.client, [anchor], { pods, ahead: await waysTo(pods) });
		const { near, far } = await newSocket();
		await dialer.connect(far, up);
		far.resume();
		near.write("x");
		expect(String((await once(near, "data"))[0])).toBe("x");
		expect(dialed()).toEqual(["a"]);
		await dialer.connect((await newSocket()).far, up);
		expect(dialed()).toEqual(["a", "a"]);
		expect(dialer.current?.name).toBe("a");
	});

	test("is taken before an agent that comes first by its name, from a namespace that was not known yet", async () => {
		const b = newAgent("b");
		const pods = [newAgent("a", { namespace: "shop" }), b];
		const dialer = new AgentDialer(api.client, [anchor, "shop"], { pods, ahead: await waysTo([b]) });
		await dialer.connect((await newSocket()).far, up);
		expect(dialed()).toEqual(["b"]);
	});

	test("is hung up where it leads to nobody who is an agent, or is ready, or whom the dialer is for", async () => {
		const [a, b] = [newAgent("a"), newAgent("b")];
		const cases = [
			{ pods: [b] },
			{ pods: [b, newAgent("a", { ready: false })] },
			{ pods: [b, newAgent("a", { uid: "of the pod that has its name now" })] },
			{ pods: [a, b], only: b.uid },
		];
		for (const options of cases) {
			const dialer = new AgentDialer(api.client, [anchor], { ...options, ahead: await waysTo([a]) });
			await dialer.connect((await newSocket()).far, up);
			expect(dialer.current?.name).toBe("b");
		}
		expect(dialed()).toEqual(cases.flatMap(() => ["a", "b"]));
		await expect.poll(closed).toEqual(cases.flatMap(() => [true, false]));
	});

	test("that the API server refuses is no better than any: the next agent is dialed", async () => {
		const pods = [newAgent("a"), newAgent("b")];
		api.refusal = { code: 404, body: JSON.stringify({ kind: "Status", message: "gone", reason: "NotFound" }) };
		const ahead = await waysTo(pods);
		await ahead?.connection.catch(() => undefined);
		api.refusal = undefined;
		const dialer = new AgentDialer(api.client, [anchor], { pods, ahead });
		await dialer.connect((await newSocket()).far, up);
		expect(dialed()).toEqual(["a", "b"]);
	});

	test("that has ended while it waited is dialed anew, to the same agent", async () => {
		const pods = [newAgent("a"), newAgent("b")];
		const ahead = await waysTo(pods);
		const connection = await ahead?.connection;
		for (const socket of api.sockets) socket.terminate();
		await expect.poll(() => connection?.isOver).toBe(true);
		const dialer = new AgentDialer(api.client, [anchor], { pods, ahead });
		const { near, far } = await newSocket();
		await dialer.connect(far, up);
		far.resume();
		near.write("x");
		expect(String((await once(near, "data"))[0])).toBe("x");
		expect(dialed()).toEqual(["a", "a"]);
	});

	test("is hung up where nobody comes", async () => {
		const pods = [newAgent("a")];
		new AgentDialer(api.client, [anchor], { pods, ahead: await waysTo(pods) }).close();
		await expect.poll(closed).toEqual([true]);
	});

	test("is not made where no agent is ready, or nobody may say who they are", async () => {
		expect(await waysTo([newAgent("a", { ready: false })])).toBeUndefined();
		expect(await connectAhead(contextOf(), { pods: Promise.reject(new Error("forbidden")) })).toBeUndefined();
		expect(dialed()).toEqual([]);
	});
});

describe("an agent that says nothing", () => {
	const pods = [newAgent("a"), newAgent("b")];

	async function heard(dialer: AgentDialer, words: readonly string[] = ["x"]): Promise<string | undefined> {
		const { near, far } = await newSocket();
		const closed = once(
			near.on("error", () => undefined),
			"close",
		).then(() => undefined);
		const answers: string[] = [];
		await dialer.connect(far, () => answers.length === words.length);
		far.resume();
		for (const word of words) {
			near.write(word);
			const answer = await Promise.race([once(near, "data").then(([data]) => String(data)), closed]);
			if (answer === undefined) return undefined;
			answers.push(answer);
		}
		return answers.join("");
	}

	test("is hung up on and left for another one, also where it was dialed ahead", async () => {
		api.silent.add("a");
		for (const ahead of [undefined, await waysTo(pods)]) {
			const dialer = new AgentDialer(api.client, [anchor], { pods, ahead, patienceMs: 100 });
			expect(await heard(dialer)).toBeUndefined();
			expect(await heard(dialer)).toBe("x");
			expect(dialer.current?.name).toBe("b");
		}
	});

	test("is left as well where it falls silent before the connection stands", async () => {
		api.dying.add("a");
		const dialer = new AgentDialer(api.client, [anchor], { pods, patienceMs: 100 });
		expect(await heard(dialer, ["hello", "finished"])).toBeUndefined();
		expect(await heard(dialer, ["hello", "finished"])).toBe("hellofinished");
		expect(dialed()).toEqual(["a", "b"]);
	});

	test("is waited for twice as long where there is no other, or none that is better", async () => {
		api.silent.add("a").add("b");
		const since = performance.now();
		const only = new AgentDialer(api.client, [anchor], { pods: [newAgent("a")], patienceMs: 200 });
		expect(await heard(only)).toBeUndefined();
		expect(performance.now() - since).toBeGreaterThan(390);
		const dialer = new AgentDialer(api.client, [anchor], { pods, patienceMs: 200 });
		expect(await heard(dialer)).toBeUndefined();
		const next = performance.now();
		expect(await heard(dialer)).toBeUndefined();
		expect(performance.now() - next).toBeGreaterThan(390);
		expect(dialed()).toEqual(["a", "a", "b"]);
	});

	test("keeps its connection for as long as it likes once that stands", async () => {
		const dialer = new AgentDialer(api.client, [anchor], { pods, patienceMs: 100 });
		const { near, far } = await newSocket();
		await dialer.connect(far, up);
		far.resume();
		near.write("x");
		await once(near, "data");
		await delay(300);
		near.write("y");
		expect(String((await once(near, "data"))[0])).toBe("y");
	});

	test("and to whom the API server finds no way is left for another one at once, also where it was dialed ahead", async () => {
		api.unreached.add("a");
		for (const ahead of [undefined, await waysTo(pods)]) {
			const dialer = new AgentDialer(api.client, [anchor], { pods, ahead, patienceMs: 100 });
			expect(await heard(dialer)).toBe("x");
			expect(dialer.current?.name).toBe("b");
		}
	});
});

test("agents that all refuse are tried once each, and the last one's refusal is told", async () => {
	api.refusal = { code: 404, body: JSON.stringify({ kind: "Status", message: "no such pod", reason: "NotFound" }) };
	const dialer = new AgentDialer(api.client, [anchor], { pods: [newAgent("a"), newAgent("b")] });
	await expect(dialer.connect((await newSocket()).far, up)).rejects.toThrow(
		"port-forward to pod xpdb-system/b: no such pod",
	);
	expect(dialed()).toEqual(["a", "b"]);
});

test("agents that are gone are left for those who have taken their place, whom an older list has not", async () => {
	api.unreached.add("a").add("b");
	const ready = (name: string) => ({
		...newV1Pod(name, { namespace: anchor, labels: { "app.kubernetes.io/name": "xpdb-agent" } }),
		status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
	});
	const listed = contextOf({ list: () => [ready("c")] }).client;
	const pods = [newAgent("a"), newAgent("b")];
	const dialer = new AgentDialer(listed, [anchor], { pods, patienceMs: 600 });
	await dialer.connect((await newSocket()).far, up);
	expect(dialer.current?.name).toBe("c");
	expect(dialed()).toEqual(["a", "c"]);
});

describe("the agent of an earlier call", () => {
	const kept = { name: "b", uid: "uid-b", port: 8443 };
	const withKept = (calls: Parameters<typeof contextOf>[0] = {}): KubeContext => ({
		...contextOf(calls),
		lastAgent: { read: () => kept, write: () => undefined },
	});

	test("is dialed, and a token asked for, before anybody has said who the agents are", async () => {
		const { promise: pods, resolve: list } = Promise.withResolvers<readonly AgentPod[]>();
		let tokens = 0;
		const context = withKept({ post: () => ({ status: { token: `token ${++tokens}` } }) });
		const way = connectAhead(context, { pods, dialed: dialLastAgent(context) });
		await expect.poll(dialed).toEqual(["b"]);
		await expect.poll(() => tokens).toBe(1);
		list([newAgent("a"), newAgent("b")]);
		const begun = await way;
		const dialer = new AgentDialer(api.client, [anchor], { pods: await pods, ahead: begun?.ahead });
		await dialer.connect((await newSocket()).far, up);
		expect(dialer.current?.name).toBe("b");
		expect([dialed(), await begun?.login.first]).toEqual([["b"], "token 1"]);
	});

	test("is hung up, with nothing said to it, where the list has it no more, or not ready, or under its name another pod", async () => {
		const lists = [
			[newAgent("a")],
			[newAgent("a"), newAgent("b", { ready: false })],
			[newAgent("a"), newAgent("b", { uid: "of the pod that has its name now" })],
		];
		for (const pods of lists) {
			const context = withKept();
			const begun = await connectAhead(context, { pods: Promise.resolve(pods), dialed: dialLastAgent(context) });
			expect(begun?.ahead.uid).toBe("uid-a");
			const connection = await begun?.ahead.connection;
			connection?.close();
		}
		for (const pods of [Promise.resolve([]), Promise.reject(new Error("forbidden"))]) {
			const context = withKept();
			expect(await connectAhead(context, { pods, dialed: dialLastAgent(context) })).toBeUndefined();
		}
		await expect.poll(() => dialed().toSorted()).toEqual(["a", "a", "a", "b", "b", "b", "b", "b"]);
		await expect.poll(closed).toEqual(dialed().map(() => true));
		expect(api.said).toBe(0);
	});

	test("that cannot be dialed costs nothing where it is gone, and is an agent like any where it is listed", async () => {
		api.refusal = { code: 404, body: JSON.stringify({ kind: "Status", message: "gone", reason: "NotFound" }) };
		const context = withKept();
		const refused = dialLastAgent(context);
		await refused?.connection.catch(() => undefined);
		api.refusal = undefined;
		const [a, b] = [newAgent("a"), newAgent("b")];
		for (const pods of [[a], [a, b]]) {
			const begun = await connectAhead(context, { pods: Promise.resolve(pods), dialed: refused });
			const dialer = new AgentDialer(api.client, [anchor], { pods, ahead: begun?.ahead });
			await dialer.connect((await newSocket()).far, up);
			expect(dialer.current?.name).toBe("a");
		}
	});
});

describe("accessAgents()", () => {
	const agent = newV1Pod("agent-1", { namespace: anchor, labels: { "app.kubernetes.io/name": "xpdb-agent" } });
	const ready = { ...agent, status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };

	/** Opens access to the agents. The API server has these answers, and returns 404 for everything else. */
	async function access(answers: Readonly<Record<string, object>>, lastAgent: object = {}) {
		const get = (path: string): object => {
			const answer = answers[path.split("/").at(-1) ?? ""];
			if (!answer) throw notFound(`${path} not found`);
			return answer;
		};
		const context = contextOf({ list: () => [ready], get });
		return accessAgents({ ...context, lastAgent: { read: () => lastAgent, write: () => undefined } });
	}

	test("says nothing to an agent, and hangs up, while it is not known whose agents they are or which cluster it is", async () => {
		const known = {
			"xpdb-fleet": { data: {} },
			"xpdb-ca": { data: { "ca.crt": "a certificate" } },
			"kube-system": { metadata: { uid: "uid-1" } },
		};
		for (const last of [{}, { name: "agent-1", uid: agent.metadata?.uid, port: 8443 }]) {
			for (const missing of ["xpdb-ca", "kube-system"]) {
				expect((await access({ ...known, [missing]: {} }, last)).kind).toBe("failed");
			}
			expect((await access({ ...known, "xpdb-fleet": { data: { namespaces: 7 } } }, last)).kind).toBe("failed");
		}
		await expect.poll(closed).toEqual(Array.from({ length: 6 }, () => true));
		expect(api.said).toBe(0);
	});
});
