// Reports a step of an installation that failed in a cluster: what was requested, where, and the command that helps.
import { ApiError, ConnectionError, kubectlErrorLine } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";

export const noAnswer = "its API server gave no answer in time";

/** Whether AbortSignal.timeout() ended a call: the API server accepted the connection, and then did not answer. */
export function isTimeout(error: unknown): boolean {
	return error instanceof Error && error.name === "TimeoutError";
}

/** Throws UsageError, with the cluster and the step, if the API server refuses or does not answer. Passes on any other error. */
export async function installStep<T>(
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
	action: string,
	answer: Promise<T>,
): Promise<T> {
	try {
		return await answer;
	} catch (error) {
		if (isTimeout(error)) throw new UsageError(`${name}: cannot ${action}: ${noAnswer}`);
		if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
		throw new UsageError(`${name}: cannot ${action}: ${whyNot(error)}`, hintFor(error, { name, suggest }));
	}
}

function whyNot(error: ApiError | ConnectionError): string {
	if (error instanceof ConnectionError) return kubectlErrorLine(error);
	return isLoggedOut(error) ? `you must be logged in to the server (${error.message})` : error.message;
}

/** An expired certificate or token also gets this answer. */
function isLoggedOut(error: ApiError | ConnectionError): boolean {
	return error instanceof ApiError && error.code === 401;
}

function hintFor(
	error: ApiError | ConnectionError,
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
): string | undefined {
	if (isLoggedOut(error)) return `See '${suggest.kubectl(["auth", "whoami"], name)}'`;
	if (!(error instanceof ApiError) || error.code !== 403) return undefined;
	const check = suggest.xpdb(["check", "--pre"], name);
	return `Who installs needs the rights of a cluster administrator: '${check}' names all that are missing`;
}
