import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { type OpenOptions, openContexts } from "../../../plugin/kubernetes/open-contexts.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { patiently } from "../../support/skipping-clock.ts";
import { createScratchFolder } from "./scratch-folder.ts";

const scratch = createScratchFolder("open-contexts");
const isTerminal = Object.getOwnPropertyDescriptor(process.stdin, "isTTY");

/** Logs in with a program that records its instructions and then gives nothing for a minute. Resolves when the program has ended. */
async function logIn(name: string, options: OpenOptions): Promise<unknown> {
	const seen = join(scratch.folder, name);
	const exec = {
		apiVersion: "client.authentication.k8s.io/v1",
		interactiveMode: "IfAvailable",
		command: "sh",
		args: ["-c", `echo "$KUBERNETES_EXEC_INFO" > ${seen}.part; mv ${seen}.part ${seen}; exec sleep 60`],
	};
	const kubeconfig = scratch.write(
		`${name}.json`,
		JSON.stringify({
			apiVersion: "v1",
			kind: "Config",
			"current-context": "sso",
			clusters: [{ name: "eu", cluster: { server: "https://127.0.0.1:9" } }],
			users: [{ name: "sso", user: { exec } }],
			contexts: [{ name: "sso", context: { cluster: "eu", user: "sso" } }],
		}),
	);
	const stop = new AbortController();
	const flags = readGlobalFlags({ kubeconfig });
	const [context] = openContexts(flags, {}, collectStreams().stderr, { ...options, stop: stop.signal });
	const ended = context?.client.get("/api/v1/nodes").catch((error: unknown) => error);
	await expect.poll(() => existsSync(seen), patiently).toBe(true);
	stop.abort();
	expect(await ended).toMatchObject({ message: expect.stringContaining("getting credentials: ") as unknown });
	return JSON.parse(readFileSync(seen, "utf8"));
}

describe("openContexts()", () => {
	beforeAll(() => void Object.defineProperty(process.stdin, "isTTY", { value: true, configurable: true }));
	afterAll(() => {
		if (isTerminal) Object.defineProperty(process.stdin, "isTTY", isTerminal);
		else Reflect.deleteProperty(process.stdin, "isTTY");
	});

	test("gives a login program the terminal where there is one", async () => {
		expect(await logIn("attended", {})).toMatchObject({ spec: { interactive: true } });
	});

	test("gives it none while a shell uses the terminal", async () => {
		expect(await logIn("unattended", { unattended: true })).toMatchObject({ spec: { interactive: false } });
	});
});
