// A step on the way to the agents: what went wrong in it, and who repairs it with what, in one line.
import { BoundedError } from "../../disruption/bounded-error.ts";
import { ApiError } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";

/** A step that somebody has to repair. */
export class StepError extends BoundedError {
	override readonly name = "StepError";
}

/** Waits for the answer; a refusal of the API server says what was asked for, and who gives a right that is missing. */
export async function step<T>(
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
	action: string,
	answer: Promise<T>,
): Promise<T> {
	try {
		return await answer;
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		// Which roles and for whom, check asks the API server itself.
		const check = suggest.xpdb(["check"], name);
		const help = error.code === 403 ? ` (an administrator gives you what is missing: '${check}' has the commands)` : "";
		throw new StepError(`cannot ${action}: ${error.message}${help}`, { cause: error });
	}
}
