import type { IncomingMessage } from "node:http";
import { afterAll, describe, expect, test } from "vitest";
import { run } from "../../../plugin/run-command.ts";
import { exitCode } from "../../../plugin/terminal/exit.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { type FakeAnswer, type FakeApiServers, startFakeApiServers } from "../../support/fake-api-servers.ts";

const disposal = new AsyncDisposableStack();
afterAll(() => disposal.disposeAsync());

const map = "/api/v1/namespaces/xpdb-system/configmaps/xpdb-fleet";
const fleet = ["eu", "us", "ap"].map((name) => ({ id: `id-${name}`, name, address: `${name}:8444` }));

interface FakeFleet {
	readonly servers: FakeApiServers;
	readonly written: string[];
	/** Called before each request is handled. Returns the code of a failure, or 0 for no answer. */
	before: (request: IncomingMessage) => number | undefined;
}

async function startFleet(): Promise<FakeFleet> {
	const written: string[] = [];
	const answers = (name: string, { method = "", url = "" }: IncomingMessage): FakeAnswer => {
		if (url === "/api/v1/namespaces/kube-system") return { metadata: { uid: `id-${name}` } };
		if (method === "GET" && url === map) {
			return { metadata: { uid: "map", resourceVersion: "1" }, data: { members: JSON.stringify(fleet) } };
		}
		if (method === "GET") return 404;
		if (!url.includes("dryRun=All")) written.push(`${name} ${method}`);
		return {};
	};
	const servers = disposal.use(
		await startFakeApiServers(["eu", "us"], (name, request) => started.before(request) ?? answers(name, request)),
	);
	const started: FakeFleet = { servers, written, before: () => undefined };
	return started;
}

async function forget({ servers: { kubeconfig, home } }: FakeFleet, interrupts: InterruptSource) {
	const streams = collectStreams();
	const argv = ["fleet", "forget", "ap", "--contexts=eu,us", "--yes"];
	const code = await run(argv, { streams, env: { KUBECONFIG: kubeconfig, HOME: home }, interrupts });
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
