import { describe, expect, test } from "vitest";
import { parseCommandLine } from "../../../plugin/cli.ts";
import { ConnectionError, SilentServerError } from "../../../plugin/kubernetes/api-error.ts";
import type { LostContext } from "../../../plugin/nodes/find-in-contexts.ts";
import type { NodeTarget } from "../../../plugin/nodes/node-target.ts";
import { performRun, type RunResult } from "../../../plugin/run/perform-run.ts";
import type { OpenRun } from "../../../plugin/run/run-report.ts";
import { UsageError } from "../../../plugin/terminal/errors.ts";
import { InterruptSource } from "../../../plugin/terminal/interrupts.ts";
import { collectStreams } from "../../support/collected-streams.ts";
import { createScratchFolder } from "../kubernetes/scratch-folder.ts";

const kubeconfig = createScratchFolder("perform-run").write(
	"config",
	JSON.stringify({
		"current-context": "eu",
		// Nothing listens there, and nothing is sent.
		clusters: [{ name: "one", cluster: { server: "https://127.0.0.1:1" } }],
		users: [{ name: "u", user: { token: "secret" } }],
		contexts: ["eu", "us"].map((name) => ({ name, context: { cluster: "one", user: "u" } })),
	}),
);

interface Life {
	readonly argv?: readonly string[];
	readonly answers?: readonly string[];
	readonly readOptions?: () => void;
	readonly work?: (run: OpenRun) => Promise<RunResult>;
	/** The result of a run that has nothing to do. */
	readonly ended?: RunResult;
	readonly lost?: (run: OpenRun) => readonly LostContext[];
}

const done: RunResult = { kind: "ended", failures: [] };
const both = ["cordon", "n1", "--contexts=eu,us"];

/** Performs a run about node n1 of each of its contexts. `steps` records what it did. */
async function live({ argv = ["cordon", "n1"], answers, readOptions, work = async () => done, ended, lost }: Life) {
	const parsed = await parseCommandLine(argv);
	if (parsed.kind !== "command") throw new Error("no command");
	const streams = collectStreams(answers);
	const steps: string[] = [];
	const deps = { streams, env: { KUBECONFIG: kubeconfig }, interrupts: new InterruptSource(() => undefined) };
	const outcome = await performRun(
		{ command: "cordon", input: parsed.input, deps },
		{
			readOptions: readOptions ?? (() => undefined),
			async findWork(_, run) {
				steps.push(`opened ${run.contexts.map(({ name }) => name).join("+")}`);
				if (ended) return ended;
				const without = lost?.(run) ?? [];
				const answering = run.contexts.filter((context) => without.every((each) => each.context !== context));
				const nodes = answering.map((context): NodeTarget => {
					return { context, name: "n1", uid: `uid-${context.name}`, unschedulable: false };
				});
				return {
					kind: "nodes",
					nodes,
					pods: [],
					dryRun: "none",
					lost: without,
					async work() {
						steps.push("worked");
						return work(run);
					},
				};
			},
		},
	).catch((error: unknown) => error);
	return { outcome, steps, out: streams.out(), err: streams.err() };
}

const types = (out: string): readonly string[] =>
	out
		.trim()
		.split("\n")
		.map((line) => (JSON.parse(line) as { readonly type: string }).type);

describe("performRun()", () => {
	test("works in one context without a question", async () => {
		expect(await live({})).toEqual({ outcome: 0, steps: ["opened eu", "worked"], out: "", err: "" });
	});

	test("asks before it works in several, and says what it is about to touch", async () => {
		const { outcome, steps, err } = await live({ argv: both, answers: ["y"] });
		expect({ outcome, steps }).toEqual({ outcome: 0, steps: ["opened eu+us", "worked"] });
		expect(err).toBe("Cordon 2 nodes in 2 contexts:\n  eu  n1\n  us  n1\nContinue? [y/N] ");
	});

	test("touches nothing after a no", async () => {
		const { outcome, steps, err } = await live({ argv: both, answers: ["n"] });
		expect({ outcome, steps }).toEqual({ outcome: 1, steps: ["opened eu+us"] });
		expect(err).toMatch(/Continue\? \[y\/N\] Nothing was touched\.\n$/);
	});

	test("touches nothing where nobody can be asked", async () => {
		const { outcome, steps } = await live({ argv: both });
		expect(outcome).toBeInstanceOf(UsageError);
		expect(steps).toEqual(["opened eu+us"]);
	});

	test("asks nobody who has said yes", async () => {
		expect(await live({ argv: [...both, "-y"] })).toMatchObject({
			outcome: 0,
			steps: ["opened eu+us", "worked"],
			err: "",
		});
	});

	test("opens nothing where its flags are wrong", async () => {
		const wrong = new UsageError("no");
		const read = (): never => {
			throw wrong;
		};
		expect(await live({ readOptions: read })).toMatchObject({ outcome: wrong, steps: [] });
	});

	test("ends at once where there is nothing to do", async () => {
		expect(await live({ ended: done, argv: both })).toMatchObject({ outcome: 0, steps: ["opened eu+us"], err: "" });
	});

	const ends = [
		{ name: "done", failures: [], outcome: 0 },
		{ name: "a failure", failures: [{ unreachable: false }], outcome: 1 },
		{ name: "no answer of a member", failures: [{ unreachable: false }, { unreachable: true }], outcome: 4 },
	];
	for (const { name, failures, outcome } of ends) {
		test(`ends with ${outcome} after ${name}`, async () => {
			expect(await live({ work: async () => ({ kind: "ended", failures }) })).toMatchObject({ outcome });
		});
	}

	const lost = ({ contexts }: OpenRun) => {
		const error = new ConnectionError("https://us", new SilentServerError("no connection within 10s"), "us");
		return contexts.slice(1).map((context) => ({ context, error, named: ["n7"] }));
	};

	test("says before it asks what it goes on without, and ends with 4", async () => {
		const { outcome, err } = await live({ argv: both, answers: ["y"], lost });
		expect(outcome).toBe(4);
		expect(err).toBe(
			"us  Warning: no answer from the API server, nothing is done in this context (n7): no connection within 10s\n" +
				"Cordon 1 node in 1 context:\n  eu  n1\nContinue? [y/N] " +
				'us  error: nothing was done in this context: Unable to connect to the server of context "us": no connection within 10s\n',
		);
	});

	test("tells as JSON what it goes on without, with the command that shows more", async () => {
		const { out } = await live({ argv: [...both, "-y", "-o", "json"], lost });
		const told = out
			.trim()
			.split("\n")
			.map((line): unknown => JSON.parse(line))
			.filter((line) => (line as { readonly type: string }).type === "diagnostic");
		expect(told).toHaveLength(2);
		for (const each of told) {
			expect(each).toMatchObject({
				context: "us",
				reason: "ServerUnreachable",
				code: "XPDB3107",
				fix: "kubectl get --raw '/readyz?verbose' --context us",
			});
		}
	});

	test("tells as JSON how it began, what is said at its end, and last its summary", async () => {
		const lastEvents = [{ type: "diagnostic", level: "info", message: "over" }] as const;
		const { out } = await live({
			argv: ["cordon", "n1", "-o", "json"],
			work: async () => ({ kind: "ended", failures: [], lastEvents }),
		});
		expect(types(out)).toEqual(["version", "run.started", "diagnostic", "summary"]);
	});

	test("tells its summary after an error too, with how to go on", async () => {
		const broken = new Error("broken");
		const { outcome, out } = await live({
			argv: ["cordon", "n1", "-o", "json"],
			work: ({ offer }) => {
				offer(() => ({ undo: "kubectl xpdb uncordon n1" }));
				return Promise.reject(broken);
			},
		});
		expect(outcome).toBe(broken);
		expect(types(out)).toEqual(["version", "run.started", "diagnostic", "summary"]);
		expect(JSON.parse(out.trim().split("\n").at(-1) ?? "")).toMatchObject({
			exitCode: 1,
			undo: "kubectl xpdb uncordon n1",
		});
	});
});
