// Runs one step of connecting to the agents. If the API server refuses it, one line says what was requested and who can grant a missing
// right.
import { BoundedError } from "../../disruption/bounded-error.ts";
import { ApiError } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";

/** The error of a step that failed for a reason that a person has to fix. */
export class StepError extends BoundedError {
	override readonly name = "StepError";
}

/** Waits for the answer. If the API server refuses, the error says what was requested and who can grant a missing right. */
export async function step<T>(
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
	action: string,
	answer: Promise<T>,
): Promise<T> {
	try {
		return await answer;
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		// The check command asks the API server which roles are missing, and for which account.
		const check = suggest.xpdb(["check"], name);
		const help = error.code === 403 ? ` (an administrator gives you what is missing: '${check}' has the commands)` : "";
		throw new StepError(`cannot ${action}: ${error.message}${help}`, { cause: error });
	}
}
