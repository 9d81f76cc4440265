// Tests what one press of the Tab key keeps for the next, with clusters that answer at once, too late or never.
import {
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commands } from "../../../plugin/command-table.ts";
import { complete, completeInBackground } from "../../../plugin/commands/complete.ts";
import type { OpenOptions, openContexts } from "../../../plugin/kubernetes/open-contexts.ts";
import { operationAnnotation } from "../../../plugin/nodes/operation.ts";
import { newClient, newContext } from "../../support/build-context.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { certificate, privateKey } from "../../support/sample-certificate.ts";
import { createTimeLimit } from "../../support/time-limit.ts";
import { createScratchFolder } from "../kubernetes/scratch-folder.ts";

const scratch = createScratchFolder("kept-completion");
const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "login", interactiveMode: "Never" };
const users = {
	alice: { token: "a" },
	bob: { token: "b" },
	"alice-as-carol": { token: "a", as: "carol" },
	"alice-as-ops": { token: "a", as: "carol", "as-groups": ["ops"] },
	sso: { exec },
	// The identity of these two depends on files.
	mounted: { tokenFile: scratch.write("token", "a") },
	certified: {
		"client-certificate": scratch.write("client.crt", certificate),
		"client-key": scratch.write("client.key", privateKey),
	},
	oidc: {
		"auth-provider": { name: "oidc", config: { "id-token": "x", "idp-issuer-url": "https://a", "client-id": "b" } },
	},
};
const kubeconfig = scratch.write(
	"config",
	JSON.stringify({
		apiVersion: "v1",
		kind: "Config",
		"current-context": "alice",
		clusters: ["eu", "us"].map((name) => ({ name, cluster: { server: `https://${name}.example.com` } })),
		users: Object.entries(users).map(([name, user]) => ({ name, user })),
		contexts: [
			...Object.keys(users).map((user) => ({ name: user, context: { cluster: "eu", user, namespace: "shop" } })),
			{ name: "us", context: { cluster: "us", user: "alice", namespace: "shop" } },
		],
	}),
);

/** `never` returns an answer that does not come before the time limit. */
type Answer = (context: string, path: string, never: () => unknown) => unknown;

const late: Answer = (_context, _path, never) => never();
const nodes: Answer = (context) => ({ items: [{ metadata: { name: `${context}-n0` } }] });

/** Plays a user at a shell, with a cache and a clock that only the test moves. */
function createShell() {
	const folder = mkdtempSync(join(scratch.folder, "cache-"));
	const env = { KUBECONFIG: kubeconfig, KUBECACHEDIR: folder };
	const names = join(folder, "kubectl-xpdb", "names");
	let clock = 1_000_000;
	const openWith =
		(answer: Answer, asked: string[], never: () => unknown): typeof openContexts =>
		({ context, contexts }) =>
			(contexts.length > 0 ? contexts : [context ?? "alice"]).map((name) => {
				const get = (path: string) => {
					asked.push(name);
					return answer(name, path, never);
				};
				return { ...newContext(name, newClient({ get })), namespace: "shop" };
			});
	const common = { commands, wallClock: () => clock };
	return {
		names,
		wait: (ms: number) => void (clock += ms),
		async press(line: string, answer: Answer = nodes) {
			const streams = collectStreams();
			const asked: string[] = [];
			const background: string[] = [];
			const { startTimer, never } = createTimeLimit();
			// With `late`, the completion begins too late to request anything: after 150 ms.
			const now = () => (answer === late ? 151 : 0);
			await complete(
				line.split(" "),
				{ streams, env },
				{
					...common,
					now,
					startTimer,
					open: openWith(answer, asked, never),
					askInBackground: async (words) => void background.push(words.join(" ")),
				},
			);
			const lines = streams.out().trimEnd().split("\n");
			return { values: lines.slice(0, -1).map((each) => each.split("\t")[0]), asked, background };
		},
		async background(line: string, answer: Answer = nodes) {
			const asked: string[] = [];
			const { signal, never } = createTimeLimit();
			const options = { ...common, open: openWith(answer, asked, never), signal };
			await completeInBackground(line.split(" "), env, options);
			return asked;
		},
	};
}

describe("complete() at the second key", () => {
	test("has the names of the first one for a minute, without asking", async () => {
		const shell = createShell();
		expect(await shell.press("drain ")).toMatchObject({ values: ["alice-n0"], asked: ["alice"] });
		shell.wait(59_999);
		expect(await shell.press("drain ", late)).toMatchObject({ values: ["alice-n0"], asked: [] });
		shell.wait(1);
		expect(await shell.press("drain ", late)).toMatchObject({ values: [], asked: [] });
		// Setting the clock back does not keep the names longer.
		expect(await shell.press("drain ")).toMatchObject({ asked: ["alice"] });
		shell.wait(-1);
		expect(await shell.press("drain ", late)).toMatchObject({ values: [] });
	});

	test("keeps each list by itself", async () => {
		const shell = createShell();
		await shell.press("drain ");
		for (const line of ["evict ", "budgets ", "drain -n ", "drain --resume ", "evict -n web "]) {
			expect(await shell.press(line, late), line).toMatchObject({ values: [] });
		}
		expect(await shell.press("explain node/", late)).toMatchObject({ values: ["node/alice-n0"] });
	});

	test("asks again where there was nothing: something may be there now", async () => {
		const shell = createShell();
		await shell.press("drain ", () => ({ items: [] }));
		expect(await shell.press("drain ")).toMatchObject({ values: ["alice-n0"], asked: ["alice"] });
	});

	test("asks only those contexts whose names it does not have, and does without one that is silent", async () => {
		const shell = createShell();
		await shell.press("drain ");
		const both = "drain --contexts alice,us ";
		const rows = await shell.press(both);
		expect(rows).toMatchObject({ values: ["alice/alice-n0", "us/us-n0"], asked: ["us"] });
		shell.wait(60_000);
		const silentInUs: Answer = (context, path, never) => (context === "us" ? never() : nodes(context, path, never));
		expect(await shell.press(both, silentInUs)).toMatchObject({ values: ["alice/alice-n0"], asked: ["alice", "us"] });
	});

	test("shows no login what another one was given", async () => {
		const shell = createShell();
		const seen = new Set<string>();
		for (const context of ["alice", "bob", "alice-as-carol", "alice-as-ops", "us", "oidc"]) {
			const { values, asked } = await shell.press(`drain --context ${context} `);
			expect([values, asked]).toEqual([[`${context}-n0`], [context]]);
			seen.add(context);
		}
		for (const context of seen) {
			const { values } = await shell.press(`drain --context ${context} `, late);
			expect(values).toEqual([`${context}-n0`]);
		}
	});

	test("keeps nothing of a user whose login is a program: the environment and other files decide who that is", async () => {
		const shell = createShell();
		expect(await shell.press("drain --context sso ")).toMatchObject({ values: ["sso-n0"], asked: ["sso"] });
		expect(await shell.press("drain --context sso ", late)).toMatchObject({ values: [], background: [] });
		expect(await shell.press("drain --contexts alice,sso ")).toMatchObject({ asked: ["alice", "sso"] });
		expect(await shell.press("drain --contexts alice,sso ")).toMatchObject({
			values: ["alice/alice-n0", "sso/sso-n0"],
			asked: ["sso"],
		});
	});

	for (const { context, file, content } of [
		{ context: "mounted", file: "token", content: "a" },
		{ context: "certified", file: "client.crt", content: certificate },
	]) {
		test(`shows no names that the login got whose ${file} was there before`, async () => {
			const shell = createShell();
			await shell.press(`drain --context ${context} `);
			scratch.write(file, `${content}\n`);
			expect(await shell.press(`drain --context ${context} `, late)).toMatchObject({ values: [] });
			scratch.write(file, content);
			expect(await shell.press(`drain --context ${context} `, late)).toMatchObject({ values: [`${context}-n0`] });
		});
	}

	const personal = ["--token t", "--as dora", "--as-uid 7", "--as-group ops", "--as-user-extra a=b", "--username u"];
	for (const flags of personal) {
		test(`keeps nothing, shows nothing and asks nobody in the background with ${flags}`, async () => {
			const shell = createShell();
			await shell.press("drain ");
			const line = `drain ${flags} `;
			expect(await shell.press(line, late)).toMatchObject({ values: [], background: [] });
			expect(await shell.press(line, () => ({ items: [{ metadata: { name: "secret" } }] }))).toMatchObject({
				values: ["secret"],
				background: [],
			});
			expect(await shell.press("drain ", late)).toMatchObject({ values: ["alice-n0"] });
		});
	}

	test("answers, and deletes nothing, where something else lies in the folder", async () => {
		const shell = createShell();
		await shell.press("drain ");
		const past = new Date(0);
		for (const name of ["id_ed25519", "0123.json"]) {
			writeFileSync(join(shell.names, name), "");
			utimesSync(join(shell.names, name), past, past);
		}
		mkdirSync(join(shell.names, `${"0".repeat(32)}.json`));
		utimesSync(join(shell.names, `${"0".repeat(32)}.json`), past, past);
		expect(await shell.press("evict ")).toMatchObject({ values: ["alice-n0"] });
		expect(readdirSync(shell.names)).toEqual(expect.arrayContaining(["id_ed25519", "0123.json"]));
	});

	test("is closed to others also where it was removed meanwhile", async () => {
		const shell = createShell();
		const removing: Answer = (context, path) => {
			rmSync(shell.names, { recursive: true });
			return nodes(context, path, () => undefined);
		};
		expect(await shell.press("drain ", removing)).toMatchObject({ values: ["alice-n0"] });
		expect(statSync(shell.names).mode & 0o777).toBe(0o700);
	});

	test("gives a shell no words that are no names, from whatever cluster they come", async () => {
		const shell = createShell();
		const named = ["n0", "$(reboot)", "n1\n:0", "n2\u001b[2J"].map((name) => ({ metadata: { name } }));
		expect(await shell.press("drain ", () => ({ items: named }))).toMatchObject({ values: ["n0"] });
	});

	test("keeps names alone, in files that are closed to others", async () => {
		const shell = createShell();
		const annotations = { [operationAnnotation]: "{}", other: "secret" };
		const named = [{ metadata: { name: "n0", annotations } }, { metadata: { name: "no name\tof Kubernetes" } }];
		await shell.press("drain ", () => ({ items: named }));
		expect(statSync(shell.names).mode & 0o777).toBe(0o700);
		const files = readdirSync(shell.names).map((name) => join(shell.names, name));
		expect(files).toHaveLength(1);
		for (const file of files) {
			expect(statSync(file).mode & 0o777).toBe(0o600);
			expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ at: 1_000_000, names: ["n0"] });
		}
	});
});

describe("a login program", () => {
	test("gets no terminal at the key, and is ended with the answer", async () => {
		const options: OpenOptions[] = [];
		const { startTimer, never } = createTimeLimit();
		const open: typeof openContexts = (_flags, _env, _stderr, given) => {
			if (given) options.push(given);
			return [newContext("sso", newClient({ get: never }))];
		};
		const streams = collectStreams();
		const line = ["drain", "--context", "sso", ""];
		await complete(line, { streams, env: { KUBECONFIG: kubeconfig } }, { commands, open, now: () => 150, startTimer });
		expect(streams.out()).toBe(":4\n");
		expect(options).toMatchObject([{ unattended: true, stop: { aborted: true } }]);
	});
});

describe("the question in the background", () => {
	test("is asked where no answer came in time, and the next key has it", async () => {
		const shell = createShell();
		expect(await shell.press("drain ", late)).toMatchObject({ values: [], background: ["drain "] });
		expect(await shell.background("drain ")).toEqual(["alice"]);
		expect(await shell.press("drain ", late)).toMatchObject({ values: ["alice-n0"], background: [] });
	});

	test("is asked of a server once in ten seconds, by whichever of its contexts", async () => {
		const shell = createShell();
		expect(await shell.background("drain ", late)).toEqual(["alice"]);
		expect(await shell.press("drain ", late)).toMatchObject({ background: [] });
		expect(await shell.background("evict --context bob ")).toEqual([]);
		expect(await shell.background("drain --contexts alice,us ")).toEqual(["us"]);
		shell.wait(9_999);
		expect(await shell.background("drain ")).toEqual([]);
		shell.wait(1);
		expect(await shell.press("drain ", late)).toMatchObject({ background: ["drain "] });
		expect(await shell.background("drain ")).toEqual(["alice"]);
	});

	test("makes kept names new where they are older than that", async () => {
		const shell = createShell();
		await shell.press("drain ");
		shell.wait(9_999);
		expect(await shell.press("drain ", late)).toMatchObject({ background: [] });
		shell.wait(1);
		expect(await shell.press("drain ", late)).toMatchObject({ values: ["alice-n0"], background: ["drain "] });
		await shell.background("drain ", () => ({ items: [{ metadata: { name: "fresh" } }] }));
		expect(await shell.press("drain ", late)).toMatchObject({ values: ["fresh"] });
	});

	test("is never asked where a program logs in, which may ask a person", async () => {
		const shell = createShell();
		expect(await shell.press("drain --context sso ", late)).toMatchObject({ background: [] });
		expect(await shell.background("drain --context sso ")).toEqual([]);
		expect(await shell.background("drain --contexts sso,us ")).toEqual(["us"]);
	});

	test("is not asked for words that are known here", async () => {
		const shell = createShell();
		for (const line of ["dr", "fleet ", "completion ", "drain --context "]) {
			expect(await shell.press(line, late)).toMatchObject({ background: [] });
		}
	});
});
