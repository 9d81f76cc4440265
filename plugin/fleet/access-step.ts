// Runs one step of connecting to the agents. If the API server refuses it, the error says what was requested and, on 403, which command
// shows the missing rights.
import { BoundedError } from "../../disruption/bounded-error.ts";
import { ApiError } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";

/** A step failed for a reason that the user has to fix. */
export class StepError extends BoundedError {
	override readonly name = "StepError";
}

export async function step<T>(
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
	action: string,
	answer: Promise<T>,
): Promise<T> {
	try {
		return await answer;
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		const check = suggest.xpdb(["check"], name);
		const help = error.code === 403 ? ` (an administrator gives you what is missing: '${check}' has the commands)` : "";
		throw new StepError(`cannot ${action}: ${error.message}${help}`, { cause: error });
	}
}
