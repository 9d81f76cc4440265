// A step on the way to the agents: what went wrong in it, and who repairs it with what, in one line.
import { BoundedError } from "../../disruption/bounded-error.ts";
import { ApiError } from "../kubernetes/api-error.ts";

/** A step that somebody has to repair. */
export class StepError extends BoundedError {
	override readonly name = "StepError";
}

/** Waits for the answer; a refusal of the API server says what was asked for. `hint`: what helps where a right is missing. */
export async function step<T>(
	action: string,
	answer: Promise<T>,
	hint = "bind your user to the roles xpdb-operators of the agent's manifests",
): Promise<T> {
	try {
		return await answer;
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		const help = error.code === 403 ? ` (${hint})` : "";
		throw new StepError(`cannot ${action}: ${error.message}${help}`, { cause: error });
	}
}
