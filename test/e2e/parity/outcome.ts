// Makes outcomes comparable: without random names, and with lines sorted that kubectl prints in random order.
import { isProgressLine, isSlowLine } from "../slow-lines.ts";
import type { CommandResult } from "./running-command.ts";

export interface Outcome {
	readonly code: number;
	readonly stdout: readonly string[];
	readonly stderr: readonly string[];
	/** The nodes and their pods afterwards. */
	readonly after: readonly string[];
}

/** Removes lines that only a slow run prints. */
export function withoutProgress(outcome: Outcome): Outcome {
	return { ...outcome, stderr: outcome.stderr.filter((line) => !isProgressLine(line) && !isSlowLine(line)) };
}

/** Keeps one line for all attempts of a pod with the same result. */
export function mergeTries(outcome: Outcome): Outcome {
	const merge = (lines: readonly string[]) =>
		lines.filter((line, index) => !/^evicting pod|will retry after/.test(line) || lines.indexOf(line) === index);
	return { ...outcome, stdout: merge(outcome.stdout), stderr: merge(outcome.stderr) };
}

/** `prefix` begins all names of the situation. */
export function readOutcome(results: readonly CommandResult[], after: readonly string[], prefix: string): Outcome {
	const read = (text: string): readonly string[] => inOrder(linesOf(text).map((line) => plainLine(line, prefix)));
	return {
		code: results.at(-1)?.code ?? 0,
		stdout: results.flatMap(({ stdout }) => read(stdout)),
		// Keeps only the first progress line, because a slow machine prints more.
		stderr: results
			.flatMap(({ stderr }) => read(stderr))
			.filter((line, index, all) => !isProgressLine(line) || all.findIndex(isProgressLine) === index),
		after: after.map((line) => plainLine(line, prefix)).toSorted(),
	};
}

function linesOf(text: string): readonly string[] {
	return text
		.replace(/\n$/, "")
		.split("\n")
		.filter((line, _, all) => (all.length > 1 || line !== "") && !isOfFeatureGate(line));
}

/** kubectl logs the feature gates before its first request, in random order. */
function isOfFeatureGate(line: string): boolean {
	return line.includes('] "Feature gate default state" ');
}

function plainLine(line: string, prefix: string): string {
	return (
		line
			.replaceAll(new RegExp(`\\b${prefix}\\b`, "g"), "parity")
			.replaceAll("kubectl xpdb ", "kubectl ")
			.replaceAll(/\b(daemon|deployed-[a-z0-9]+)-[a-z0-9]{5}\b/g, "$1-HASH")
			.replaceAll(/\bdeployed-[a-z0-9]+-HASH/g, "deployed-HASH")
			.replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "UID")
			.replaceAll(/--(resume|op) \S+/g, "--$1 ID")
			.replaceAll(/--context([= ])c\d+-operator/g, "--context$1CONTEXT")
			.replaceAll(/ for c\d+(-operator)?\b/g, " for NAME")
			// The controller may not have processed the budget yet.
			.replace(
				/ The disruption budget \S+ (needs \d+ healthy pods and has \d+ currently|is still being processed by the server\.)/,
				" The disruption budget NAME ...",
			)
			.replaceAll(/\b127(\.\d+){3}:\d+/g, "SERVER")
			// kubectl names the server only if its time is over while it connects.
			.replace(/^Unable to connect to the server: context deadline exceeded$/, "error: context deadline exceeded")
			// The prefix of kubectl's log lines: severity, date, time, thread and file.
			.replace(/^([IWE])\d{4} [\d:.]+ +\d+ [\w.-]+:\d+\] /, "LOG $1: ")
			.replace(/ milliseconds=\d+$/, " milliseconds=N")
			.replace(/(Config loaded from file: +)\S+/, "$1KUBECONFIG")
			.replace(/\[(.+)\]/, (_, list: string) => `[${list.split(", ").toSorted().join(", ")}]`)
			.replace(/^Warning: (.+)$/, (_, list: string) => `Warning: ${list.split("; ").toSorted().join("; ")}`)
	);
}

const podPatterns = [
	/^evicting pod [^/ ]+\/(\S+)/,
	/^pod\/(\S+) \S/,
	/^pod "([^"]+)"/,
	/^error when evicting pods?\/?\s?"([^"]+)"/,
];

/** Sorts consecutive lines about pods by pod, keeping the order of each pod's lines. Also sorts the errors at the end. */
function inOrder(lines: readonly string[]): readonly string[] {
	const podOf = (line: string): string | undefined =>
		podPatterns.map((pattern) => pattern.exec(line)?.[1]).find((name) => name !== undefined);
	const sorted: string[] = [];
	let block: { readonly pod: string; readonly line: string }[] = [];
	const flush = (): void => {
		sorted.push(...block.toSorted((a, b) => (a.pod < b.pod ? -1 : a.pod > b.pod ? 1 : 0)).map(({ line }) => line));
		block = [];
	};
	for (const line of lines) {
		const pod = podOf(line);
		if (pod === undefined) {
			flush();
			sorted.push(line);
		} else {
			block.push({ pod, line });
		}
	}
	flush();
	const last = sorted.indexOf("There are pending nodes to be drained:");
	if (last === -1) return sorted;
	const errors = sorted.findIndex((line, index) => index > last && !line.startsWith(" "));
	return errors === -1 ? sorted : [...sorted.slice(0, errors), ...sorted.slice(errors).toSorted()];
}
