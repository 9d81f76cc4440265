import { describe, expect, test } from "vitest";
import { mergeTries, type Outcome, readOutcome, withoutProgress } from "./outcome.ts";

function read(texts: { readonly stdout?: string; readonly stderr?: string }): Outcome {
	return readOutcome([{ code: 0, stdout: "", stderr: "", ...texts }], [], "parity-7");
}

describe("readOutcome()", () => {
	test("sorts the lines of pods between others by pod, and keeps each pod's own in order", () => {
		const stdout =
			"node/parity-7-a cordoned\nevicting pod x/b\nevicting pod x/a\npod/b evicted\npod/a evicted\nnode/parity-7-a drained\n";
		expect(read({ stdout }).stdout).toEqual([
			"node/parity-a cordoned",
			"evicting pod x/a",
			"pod/a evicted",
			"evicting pod x/b",
			"pod/b evicted",
			"node/parity-a drained",
		]);
	});

	const rows: readonly { readonly name: string; readonly line: string; readonly expected: string }[] = [
		{ name: "names of pods", line: "pod/deployed-6f7c8d-x2xqz evicted", expected: "pod/deployed-HASH evicted" },
		{ name: "the plugin's name", line: "See 'kubectl xpdb drain -h'", expected: "See 'kubectl drain -h'" },
		{ name: "aggregates", line: "error: [b, a], continuing", expected: "error: [a, b], continuing" },
		{ name: "warnings", line: "Warning: b: x/1; a: x/2, x/3", expected: "Warning: a: x/2, x/3; b: x/1" },
		{ name: "kubectl's log", line: "W1121 05:31:44.12     99 helpers.go:678] old", expected: "LOG W: old" },
		{
			name: "where the kubeconfig is",
			line: "I1121 05:31:44.12     99 loader.go:405] Config loaded from file:  /tmp/x/kubeconfig",
			expected: "LOG I: Config loaded from file:  KUBECONFIG",
		},
		{
			name: "what a PodDisruptionBudget needs and has",
			line: "budget. The disruption budget parity needs 1 healthy pods and has 1 currently, continuing command...",
			expected: "budget. The disruption budget NAME ..., continuing command...",
		},
		{
			name: "what was under way when the time of a request was over",
			line: "Unable to connect to the server: context deadline exceeded",
			expected: "error: context deadline exceeded",
		},
		{ name: "addresses", line: "dial tcp 127.12.1.1:6443", expected: "dial tcp SERVER" },
	];
	for (const { name, line, expected } of rows) {
		test(`makes ${name} comparable`, () => {
			expect(read({ stderr: `${line}\n` }).stderr).toEqual([expected]);
		});
	}

	test("leaves out kubectl's feature gates, which it logs in any order", () => {
		const gate =
			'I1121 05:31:44.12     99 envvar.go:172] "Feature gate default state" feature="AtomicFIFO" enabled=true';
		expect(read({ stderr: `a\n${gate}\nb\n` }).stderr).toEqual(["a", "b"]);
	});

	test("keeps what differs: streams, empty lines, another order of other lines", () => {
		expect(read({ stdout: "a\n" })).not.toEqual(read({ stderr: "a\n" }));
		expect(read({ stdout: "a\n\nb\n" })).not.toEqual(read({ stdout: "a\nb\n" }));
		expect(read({ stdout: "a\nb\n" })).not.toEqual(read({ stdout: "b\na\n" }));
	});

	test("sorts the errors at the end", () => {
		const stderr = "There are pending nodes to be drained:\n n1\nb\na\n";
		expect(read({ stderr }).stderr).toEqual(["There are pending nodes to be drained:", " n1", "a", "b"]);
	});
});

test("withoutProgress() and mergeTries() leave out only what depends on the machine's speed", () => {
	const retry = 'error when evicting pods/"a" -n "x" (will retry after 5s): no';
	const outcome = read({
		stdout: "evicting pod x/a\nevicting pod x/a\nnode/n drained\nnode/n drained\n",
		stderr: `${retry}\nprogress 0/1 pods, 1 waiting\n${retry}\ncluster c1 answers again after 3s\nWarning: whether a node is left for the pods that go is not known: cannot reach the agents of cluster "c2"\nother\n`,
	});
	expect(withoutProgress(mergeTries(outcome))).toMatchObject({
		stdout: ["evicting pod x/a", "node/n drained", "node/n drained"],
		stderr: [retry, "other"],
	});
});
