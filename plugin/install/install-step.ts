// A step of an installation that a cluster refuses: what was asked for, where, and who repairs it with what.
import { ApiError, ConnectionError, kubectlErrorLine } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";

/** Throws UsageError for what the API server answers, with the cluster and the step. */
export async function installStep<T>(
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
	action: string,
	answer: Promise<T>,
): Promise<T> {
	try {
		return await answer;
	} catch (error) {
		if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
		const why = error instanceof ApiError ? error.message : kubectlErrorLine(error);
		throw new UsageError(`${name}: cannot ${action}: ${why}`, hintFor(error, { name, suggest }));
	}
}

function hintFor(
	error: ApiError | ConnectionError,
	{ name, suggest }: Pick<KubeContext, "name" | "suggest">,
): string | undefined {
	if (!(error instanceof ApiError) || error.code !== 403) return undefined;
	const check = suggest.xpdb(["check", "--pre"], name);
	return `Who installs needs the rights of a cluster administrator: '${check}' names all that are missing`;
}
