// Runs `kubectl xpdb check -o json` with the built plugin, and reads its findings.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { sharedFleet } from "../../controlplane/shared-fleet.ts";
import { createValidator, strictSchema } from "../../support/json-schema.ts";
import { eventually } from "../kubectl.ts";

export interface CheckedFinding {
	readonly code: string;
	readonly reason: string;
	readonly cluster?: string;
	readonly message: string;
	readonly fix?: string;
}

export interface Checked {
	readonly exitCode: number;
	readonly checks: readonly {
		readonly title: string;
		readonly category: string;
		readonly result: string;
		readonly findings: readonly CheckedFinding[];
	}[];
}

/** Clusters with their kubeconfig, and a folder whose "bin" goes on the PATH. */
export interface Place {
	readonly dir: string;
	readonly kubeconfigPath: string;
}

export const operators = ["c1-operator", "c2-operator", "c3-operator"];
export const everywhere = ["--contexts", operators.join(",")];
/** A namespace without budgets, because those of other suites may still be terminating. */
export const besideBudgets = ["-n", "xpdb-system"];

const validate = createValidator(strictSchema("check-v1"));

export async function typeCommand(
	words: string,
	{ dir, kubeconfigPath }: Place = sharedFleet(),
): Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }> {
	const env = { ...process.env, KUBECONFIG: kubeconfigPath, PATH: `${join(dir, "bin")}:${process.env["PATH"]}` };
	return new Promise((resolve) => {
		execFile("sh", ["-c", words], { env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
			resolve({ code: error?.code ?? 0, stdout, stderr }),
		);
	});
}

/** Returns the -o json document. Checks that it matches the published schema and the exit code. */
export async function runCheck(args: readonly string[], place?: Place): Promise<Checked> {
	const { code, stdout, stderr } = await typeCommand(`kubectl-xpdb check ${args.join(" ")} -o json`, place);
	expect(stdout, stderr).toMatch(/^\{/);
	const document = JSON.parse(stdout) as Checked;
	expect(validate(document)).toEqual([]);
	expect(document.exitCode).toBe(code);
	return document;
}

export function findingsOf({ checks }: Checked): readonly CheckedFinding[] {
	return checks.flatMap(({ findings }) => findings);
}

/** Returns findings such as "SingleAgent in c2-operator" or "BudgetsDiffer". */
export function found(checked: Checked): readonly string[] {
	return findingsOf(checked).map(({ reason, cluster }) => placed(reason, cluster));
}

export function placed(reason: string, cluster: string | undefined): string {
	return cluster === undefined ? reason : `${reason} in ${cluster}`;
}

/** Repeats the check until the condition holds: agents see changes a moment later, and objects of other suites may still be terminating. */
export async function eventuallyChecked(
	what: string,
	args: readonly string[],
	isSo: (checked: Checked) => boolean,
	place?: Place,
): Promise<Checked> {
	let last: Checked | undefined;
	try {
		await eventually(`check to find ${what}`, async () => {
			last = await runCheck(args, place);
			return isSo(last);
		});
	} catch (error) {
		const all = last ? findingsOf(last) : [];
		const names = [...new Set(last && found(last))].join(", ");
		throw new Error(`check finds ${names}: ${JSON.stringify(all)}`, { cause: error });
	}
	if (!last) throw new Error("nothing was checked");
	return last;
}

export async function eventuallyFinds(wanted: readonly string[], ...args: readonly string[]): Promise<Checked> {
	const sorted = wanted.toSorted().join("; ");
	return eventuallyChecked("that", args, (checked) => found(checked).toSorted().join("; ") === sorted);
}
