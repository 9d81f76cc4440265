import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { managedByLabel } from "../../../disruption/agent-names.ts";
import { agentNamespaceLabel } from "../../../plugin/install/fleet-objects.ts";
import { run } from "../../../plugin/run-command.ts";
import { exitCode } from "../../../plugin/terminal/exit.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { type FakeAnswer, startFakeApiServers } from "../../support/fake-api-servers.ts";

const objects = ["deployments/xpdb-agent", "clusterroles/xpdb-agent"];

/** Uninstalls from one cluster, which calls `before` at each request. */
async function uninstall(interrupts: InterruptSource, before: (request: IncomingMessage, deleted: number) => void) {
	const deleted: string[] = [];
	const answer = (_name: string, request: IncomingMessage): FakeAnswer => {
		before(request, deleted.length);
		const path = request.url?.split("?")[0] ?? "";
		const object = objects.find((each) => path.endsWith(`/${each}`));
		if (request.method === "DELETE") return deleted.push(object ?? path) > 0 ? {} : 404;
		if (path === "/version") return { major: "1", minor: "36", gitVersion: "v1.36.0" };
		if (path.endsWith("/namespaces/kube-system")) return { metadata: { uid: "id-eu" } };
		if (object !== undefined && !deleted.includes(object)) {
			const labels = { [managedByLabel]: "kubectl-xpdb", [agentNamespaceLabel]: "xpdb-system" };
			return { metadata: { name: "xpdb-agent", labels } };
		}
		// Names of objects have a "-" or a ".", names of collections have neither.
		return /[-.][^/]*$/.test(path) ? 404 : { metadata: {}, items: [] };
	};
	await using servers = await startFakeApiServers(["eu"], answer);
	const streams = collectStreams();
	const env = { KUBECONFIG: servers.kubeconfig, HOME: servers.home };
	const code = await run(["uninstall", "--contexts=eu", "-y"], { streams, env, interrupts });
	return { code, deleted, out: streams.out(), err: streams.err() };
}

describe("uninstall", () => {
	test("looks again at the end, and says that nothing is left", async () => {
		const interrupts = new InterruptSource(() => expect.unreachable());
		const { code, deleted, out, err } = await uninstall(interrupts, () => undefined);
		expect(deleted.toSorted()).toEqual(objects.toSorted());
		expect(out).toContain("eu: nothing of xpdb's own is left");
		expect([code, err]).toEqual([exitCode.done, ""]);
	});

	for (const code of [exitCode.interrupted, exitCode.terminated]) {
		test(`ends with ${code} after an interruption, even if everything was deleted already`, async () => {
			const interrupts = new InterruptSource(() => expect.unreachable());
			const ended = await uninstall(interrupts, (_request, deleted) => {
				if (deleted === objects.length && interrupts.stoppedBy === undefined) interrupts.interrupt(code);
			});
			expect(ended.deleted.toSorted()).toEqual(objects.toSorted());
			expect(ended.out).not.toContain("is left");
			expect(ended.err).toContain("error: interrupted: everything listed above is deleted, but not checked.");
			expect(ended.code).toBe(code);
		});
	}

	test("deletes nothing more after an interruption", async () => {
		const interrupts = new InterruptSource(() => expect.unreachable());
		const ended = await uninstall(interrupts, ({ method }) => {
			if (method === "DELETE" && interrupts.stoppedBy === undefined) interrupts.interrupt(exitCode.interrupted);
		});
		expect(ended.deleted).toHaveLength(1);
		expect(ended.err).toContain("What is listed as deleted is gone. Run the same command to continue.");
		expect(ended.code).toBe(exitCode.interrupted);
	});
});
