import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { run } from "../../../plugin/run-command.ts";
import { exitCode } from "../../../plugin/terminal/exit.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";
import { collectStreams } from "../../support/collected-streams.ts";

const folder = mkdtempSync(join(tmpdir(), "xpdb-forget-"));
const disposal = new AsyncDisposableStack();
disposal.defer(() => rmSync(folder, { recursive: true }));
afterAll(() => disposal.disposeAsync());

const map = "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet";
const fleet = ["eu", "us", "ap"].map((name) => ({ id: `id-${name}`, name, address: `${name}:8444` }));

interface FakeFleet {
	readonly kubeconfig: string;
	readonly written: string[];
	/** Called before each request is handled. Returns the code of a failure, or 0 for no answer. */
	before: (request: IncomingMessage) => number | undefined;
}

async function startFleet(): Promise<FakeFleet> {
	const written: string[] = [];
	const kubeconfig = join(mkdtempSync(join(folder, "fleet-")), "config");
	const started: FakeFleet = { kubeconfig, written, before: () => undefined };
	const answers = (name: string, { method = "", url = "" }: IncomingMessage): object | undefined => {
		if (url === "/api/v1/namespaces/kube-system") return { metadata: { uid: `id-${name}` } };
		if (method === "GET" && url === map) {
			return { metadata: { uid: "map", resourceVersion: "1" }, data: { members: JSON.stringify(fleet) } };
		}
		if (method === "GET") return undefined;
		if (!url.includes("dryRun=All")) written.push(`${name} ${method}`);
		return {};
	};
	const serve = async (name: string): Promise<object> => {
		const server = createServer((request: IncomingMessage, response: ServerResponse) => {
			request.resume().on("end", () => {
				const failure = started.before(request);
				if (failure === 0) return;
				const answer = failure === undefined ? answers(name, request) : undefined;
				const code = answer ? 200 : (failure ?? 404);
				response.writeHead(code, { "content-type": "application/json" });
				response.end(JSON.stringify(answer ?? { kind: "Status", code, message: "failed" }));
			});
		}).listen(0, "127.0.0.1");
		await once(server, "listening");
		disposal.defer(() => {
			server.closeAllConnections();
			server.close();
		});
		return { name, cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } };
	};
	const names = ["eu", "us"];
	const config = {
		clusters: await Promise.all(names.map(serve)),
		users: [{ name: "u", user: {} }],
		contexts: names.map((name) => ({ name, context: { cluster: name, user: "u" } })),
	};
	writeFileSync(kubeconfig, JSON.stringify(config));
	return started;
}

async function forget({ kubeconfig }: FakeFleet, interrupts: InterruptSource) {
	const streams = collectStreams();
	const argv = ["fleet", "forget", "ap", "--contexts=eu,us", "--yes"];
	const code = await run(argv, { streams, env: { KUBECONFIG: kubeconfig, HOME: folder }, interrupts });
	return { code, out: streams.out(), err: streams.err() };
}

const isWrite = ({ method = "", url = "" }: IncomingMessage): boolean =>
	method !== "GET" && !url.includes("dryRun=All");

describe("fleet forget", () => {
	for (const code of [exitCode.interrupted, exitCode.terminated]) {
		test(`writes every list after a first interruption, and ends with ${code}`, async () => {
			const started = await startFleet();
			const interrupts = new InterruptSource(() => expect.unreachable());
			started.before = (request) => {
				if (isWrite(request) && interrupts.stoppedBy === undefined) interrupts.interrupt(code);
				return undefined;
			};
			const { code: ended, out, err } = await forget(started, interrupts);
			expect(started.written.toSorted()).toEqual(["eu PATCH", "eu POST", "us PATCH", "us POST"]);
			expect(out).toContain("us: ap forgotten, the members are eu, us");
			expect(err).toContain("Stopped: it is not known whether eu, us agree. Run the same command to check.");
			expect(ended).toBe(code);
		});
	}

	test("ends with the interruption's code even if a list could not be written", async () => {
		const started = await startFleet();
		const interrupts = new InterruptSource(() => expect.unreachable());
		started.before = (request) => {
			if (!isWrite(request) || interrupts.stoppedBy !== undefined) return undefined;
			interrupts.interrupt(exitCode.interrupted);
			return 403;
		};
		const { code, err } = await forget(started, interrupts);
		expect(err).toMatch(/error: (eu|us): failed\nRun this again: lists that say it already stay as they are\./);
		expect(code).toBe(exitCode.interrupted);
	});

	test("does not wait for the agents after an interruption", async () => {
		const started = await startFleet();
		const interrupts = new InterruptSource(() => expect.unreachable());
		started.before = () => {
			if (started.written.length < 4) return undefined;
			interrupts.interrupt(exitCode.interrupted);
			started.before = () => 0;
			return 0;
		};
		const { code, err } = await forget(started, interrupts);
		expect(err).toContain("Stopped: it is not known whether eu, us agree.");
		expect(code).toBe(exitCode.interrupted);
	});
});
