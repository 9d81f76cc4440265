import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { AgentForbiddenError, AgentUnavailableError } from "../../disruption/errors.ts";
import { reportError } from "../../plugin/run/report-error.ts";
import { run } from "../../plugin/run-command.ts";
import { FleetUncoveredError } from "../../plugin/terminal/errors.ts";
import { exitCode } from "../../plugin/terminal/exit.ts";
import { InterruptSource } from "../../plugin/terminal/interrupts.ts";
import { collectStreams } from "../support/collected-streams.ts";
import { createValidator, eventProblems, strictSchema } from "../support/json-schema.ts";

const folder = mkdtempSync(join(tmpdir(), "xpdb-run-"));
afterAll(() => rmSync(folder, { recursive: true }));
const kubeconfig = join(folder, "config");
const context = (name: string): object => ({ name, context: { cluster: "one", user: "u" } });
writeFileSync(
	kubeconfig,
	JSON.stringify({
		"current-context": "eu",
		// Nothing listens there.
		clusters: [{ name: "one", cluster: { server: "https://127.0.0.1:1" } }],
		users: [{ name: "u", user: { token: "secret" } }],
		contexts: [context("eu"), context("us")],
	}),
);

async function runWith(...argv: readonly string[]) {
	const streams = collectStreams();
	const interrupts = new InterruptSource(() => undefined);
	const code = await run(argv, { streams, env: { KUBECONFIG: kubeconfig }, interrupts });
	return { code, out: streams.out(), err: streams.err() };
}

test("run() does not let what it quotes steer the terminal", async () => {
	const { code, err } = await runWith("drain", "n1", "--dry-run=\u001b[2J\u202e");
	expect(code).toBe(1);
	expect(err).toContain("\\u001b[2J\\u202e");
	for (const steering of ["\u001b", "\u202e"]) expect(err).not.toContain(steering);
});

describe("run() with bad input", () => {
	const rows: readonly { readonly argv: readonly string[]; readonly err: string }[] = [
		{
			argv: ["drain"],
			err: "error: USAGE: drain NODE [flags]\nSee 'kubectl xpdb drain -h' for help and examples\n",
		},
		{
			argv: ["drain", "n1", "-l", "a=b"],
			err: "error: cannot specify both a node name and a --selector option\nSee 'kubectl xpdb drain -h' for help and examples\n",
		},
		{
			argv: ["drain", "n1", "--dry-run=foo"],
			err: 'error: Invalid dry-run value (foo). Must be "none", "server", or "client".\n',
		},
		{
			argv: ["drain", "n1", "--pod-selector=a=("],
			err: "error: --pod-selector=<pod_selector> must be a valid label selector\n",
		},
		{ argv: ["drain", "n1", "--max-nodes=0"], err: "error: --max-nodes must be at least 1, is 0\n" },
		{
			argv: ["uncordon"],
			err: "error: USAGE: uncordon NODE [flags]\nSee 'kubectl xpdb uncordon -h' for help and examples\n",
		},
		{ argv: ["evict"], err: "error: USAGE: evict POD [flags]\nSee 'kubectl xpdb evict --help' for usage.\n" },
		{
			argv: ["evict", "p", "--for=never"],
			err: 'error: Invalid --for value (never). Must be "deleted" or "replaced".\nSee \'kubectl xpdb evict --help\' for usage.\n',
		},
		{
			argv: ["evict", "p", "--for=replaced", "--wait=false"],
			err: "error: --for=replaced waits, --wait=false does not: use one of them\nSee 'kubectl xpdb evict --help' for usage.\n",
		},
		{ argv: ["evict", "p", "-A"], err: "error: a pod cannot be named across all namespaces\nUse -n, or -A with -l\n" },
		{
			argv: ["evict", "p", "--contexts=eu,eux"],
			err: 'error: context "eux" does not exist (did you mean eu?)\n',
		},
		{ argv: ["evict", "p", "--contexts=eu,eu"], err: 'error: context "eu" is given twice in --contexts\n' },
		{ argv: ["evict", "p", "--contexts=eu,"], err: "error: --contexts has an empty name\nWrite --contexts=a,b,c\n" },
		{
			argv: ["evict", "p", "--contexts=eu", "--context=us"],
			err: "error: cannot use --context and --contexts together\nUse one of them\n",
		},
		{
			argv: ["evict", "p", "--context=nope"],
			err: 'error: context "nope" does not exist\n',
		},
		{ argv: ["drain", "n1", "--context=uss"], err: 'error: context "uss" does not exist (did you mean us?)\n' },
		{ argv: ["plan", "n1", "--cluster=on"], err: 'error: cluster "on" does not exist (did you mean one?)\n' },
		{ argv: ["ops", "--user=v"], err: 'error: auth info "v" does not exist (did you mean u?)\n' },
		{
			argv: ["evict", "p"],
			err: "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n",
		},
		{
			argv: ["drain", "n1", "-o", "yaml"],
			err: 'error: unable to match a printer suitable for the output format "yaml"\nAllowed: json\n',
		},
		{ argv: ["version", "-o", "wide"], err: "error: --output must be 'yaml' or 'json'\n" },
		{
			argv: ["drain", "n1", "--resume=7f3c2a"],
			err: "error: cannot specify both nodes and --resume\n--resume finds its nodes by what the run wrote on them\n",
		},
		...[
			["drain", ""],
			["drain", "n1", "", "--dry-run=client"],
			["cordon", "", "n1"],
			["uncordon", ""],
			["plan", ""],
			["evict", ""],
			["evict", "p", "", "--contexts=eu,us"],
			["budgets", ""],
			["uncordon", "eu/", "--contexts=eu,us"],
		].map((argv) => ({ argv, err: "error: resource name may not be empty\n" })),
		...["ops", "version"].map((name) => ({
			argv: [name, ""],
			err: `error: extra arguments: []\nSee 'kubectl xpdb ${name} --help' for usage.\n`,
		})),
		{
			argv: ["ops", "a", "b"],
			err: "error: extra arguments: [a b]\nSee 'kubectl xpdb ops --help' for usage.\n",
		},
		...["node/", "/n1", "/"].map((word) => ({
			argv: ["uncordon", word],
			err: "error: arguments in resource/name form must have a single resource and name\n",
		})),
		{ argv: ["evict", "pod/a/b"], err: "error: arguments in resource/name form may not have more than one slash\n" },
		{ argv: ["cordon", ".."], err: "error: invalid resource name \"..\": [may not be '..']\n" },
		{ argv: ["evict", "pod/."], err: "error: invalid resource name \".\": [may not be '.']\n" },
		{ argv: ["plan", "a%2fb"], err: "error: invalid resource name \"a%2fb\": [may not contain '%']\n" },
		{
			argv: ["evict", "p", "-n", "a/b%"],
			err: "error: invalid namespace \"a/b%\": [may not contain '/', may not contain '%']\n",
		},
		...["drain", "plan"].map((name) => ({
			argv: [name, "n1", "--order-by="],
			err: 'error: --order-by must be a label\'s key or "priority", is ""\nLeave it out for no order\n',
		})),
		{
			argv: ["drain", "n1", "--resume="],
			err: "error: --resume needs the ID of a drain\nSee 'kubectl xpdb ops' for those that are unfinished\n",
		},
		{
			argv: ["uncordon", "n1", "--op="],
			err: "error: --op needs the ID of a drain\nSee 'kubectl xpdb ops' for those that are unfinished\n",
		},
		{
			argv: ["budgets", "-o", "xml"],
			err: 'error: unable to match a printer suitable for the output format "xml", allowed formats are: json,name,wide,yaml\n',
		},
	];
	for (const { argv, err } of rows) {
		test(argv.join(" "), async () => {
			expect(await runWith(...argv)).toEqual({ code: 1, out: "", err });
		});
	}

	for (const argv of [
		["drain", "n1"],
		["drain"],
		["drain", ""],
		["evict", "p"],
		["cordon", "n1"],
		["uncordon", "--op=nope"],
		["drain", "--resume=7f3c2a"],
		["drain", "n1", "--context=nope"],
	]) {
		test(`${argv.join(" ")} -o json: the error is a line too, and the summary the last`, async () => {
			const { code, out, err } = await runWith(...argv, "-o", "json");
			expect(code).toBe(1);
			expect(eventProblems(out)).toEqual([]);
			const [, diagnostic, summary] = out.split("\n").map((line): unknown => (line === "" ? {} : JSON.parse(line)));
			expect(diagnostic).toMatchObject({ type: "diagnostic", level: "error" });
			expect(summary).toMatchObject({ type: "summary", command: argv[0], result: "failed", exitCode: 1 });
			expect(err).not.toBe("");
		});
	}

	test("flags that hold for several contexts are pointed out", async () => {
		const { err } = await runWith("evict", "p", "--contexts=eu,us", "--token=x");
		expect(err).toMatch(/^Warning: --token holds for all 2 contexts\n/);
	});

	test("an old --dry-run is understood with a warning", async () => {
		const { err } = await runWith("drain", "n1", "--dry-run");
		expect(err).toMatch(/^Warning: --dry-run is deprecated and can be replaced with --dry-run=client\.\n/);
	});
});

test("version --client asks nobody", async () => {
	expect(await runWith("version", "--client")).toMatchObject({
		code: 0,
		out: expect.stringMatching(/^Client: v\d/),
		err: "",
	});
});

test("version --client -o json has kubectl's fields", async () => {
	const { code, out } = await runWith("version", "--client", "-o", "json");
	expect(code).toBe(0);
	expect(createValidator(strictSchema("version-v1"))(JSON.parse(out))).toEqual([]);
});

/** Interrupts a command that waits for an API server that accepts the connection but does not answer. */
async function leave(...argv: readonly string[]) {
	const streams = collectStreams();
	const interrupts = new InterruptSource(() => undefined);
	const silent = createServer();
	const asked = new Promise<Socket>((resolve) => silent.once("connection", resolve));
	await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
	const address = silent.address();
	const port = typeof address === "object" ? address?.port : undefined;
	const words = [...argv, `--server=http://127.0.0.1:${port}`];
	const running = run(words, { streams, env: { KUBECONFIG: kubeconfig }, interrupts });
	const socket = await asked;
	interrupts.interrupt(exitCode.terminated);
	const left = { out: streams.out(), err: streams.err() };
	socket.destroy();
	silent.close();
	await running;
	return { left, after: streams.out() };
}

test("an installation that is left while it reads says that nothing was touched", async () => {
	const { left } = await leave("install", "--image=example.com/agent:1");
	expect(left).toEqual({ out: "", err: "error: interrupted: nothing was touched\n" });
});

test("a run that is left before it began ends with its summary all the same", async () => {
	const { left, after } = await leave("evict", "p", "-o", "json");
	// A process would have exited here. What this one does afterwards is not printed.
	expect(after).toBe(left.out);
	expect(eventProblems(left.out)).toEqual([]);
	expect(JSON.parse(left.out.trim().split("\n").at(-1) ?? "")).toMatchObject({
		type: "summary",
		result: "interrupted",
		exitCode: 143,
	});
});

test("members that cannot be reached: exit code 4", async () => {
	const { code, err } = await runWith("budgets");
	expect(code).toBe(4);
	expect(err).toMatch(
		/^error: cannot reach every cluster of the fleet, nothing was touched\n {2}eu: The connection to the server 127.0.0.1:1 was refused/,
	);
	expect(err).toMatch(/\nFind out why: kubectl xpdb check\n$/);
});

describe("reportError()", () => {
	const rows: readonly {
		readonly error: unknown;
		readonly code: number;
		readonly err: string;
		readonly argv?: readonly string[];
	}[] = [
		{
			error: new FleetUncoveredError("cannot reach every cluster of the fleet", ["eu: down"]),
			code: 4,
			err: "error: cannot reach every cluster of the fleet\n  eu: down\n",
		},
		{ error: new AgentUnavailableError("no answer", "eu"), code: 4, err: "error: no answer\n" },
		{ error: new AgentForbiddenError("not yours"), code: 1, err: "error: not yours\n" },
		{
			error: new TypeError("x is not a function\n    at line 2"),
			code: 1,
			err: "error: internal error: x is not a function\nThis is a bug in kubectl-xpdb: run it again with -v=9 and report what it prints\n",
		},
		{ error: "just a string", code: 1, err: expect.stringMatching(/^error: internal error: just a string\n/) },
	];
	for (const { error, code, err, argv = [] } of rows) {
		test(String(error).split("\n")[0] ?? "", () => {
			const { stderr, err: text } = collectStreams();
			expect(reportError(error, { argv, stderr })).toBe(code);
			expect(text()).toEqual(err);
		});
	}

	for (const flag of [["-v=6"], ["-v", "6"], ["-v6"], ["--v=6"], ["--v", "6"]]) {
		test(`${flag.join(" ")} tells of every request`, async () => {
			const { err } = await runWith("cordon", "n1", ...flag);
			expect(err).toMatch(
				/^I.*\] "Response" verb="GET" url="https:\/\/127\.0\.0\.1:1\/api\/v1\/nodes\/n1" status="" err="connect ECONNREFUSED 127\.0\.0\.1:1" milliseconds=\d+\nThe connection/,
			);
		});
	}

	for (const flag of [["-v=9"], ["-v", "10"], ["--v=9"]]) {
		test(`shows the stack only where it is asked for, with ${flag.join(" ")}`, () => {
			const { stderr, err } = collectStreams();
			reportError(new TypeError("broken"), { argv: ["drain", ...flag], stderr });
			expect(err()).toMatch(/^error: internal error: broken\nTypeError: broken\n\s+at /);
		});
	}
});
