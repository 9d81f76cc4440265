// Builds contexts of a kubeconfig. The test provides the API server's answers as functions.
import { ApiError, NotSentError } from "../../plugin/kubernetes/api-error.ts";
import type { KubeContext } from "../../plugin/kubernetes/kube-context.ts";
import type { CallOptions, KubernetesClient } from "../../plugin/kubernetes/kubernetes-client.ts";
import { suggestDefault } from "./suggest-default.ts";

export function notFound(message: string): ApiError {
	return new ApiError(message, { code: 404, reason: "NotFound" });
}

export function forbidden(path: string): ApiError {
	return new ApiError(`${path} is forbidden`, { code: 403, reason: "Forbidden" });
}

type Call = (path: string, body?: unknown) => unknown;

/** Returns a client that answers with these functions. A call without a function throws. */
export function newClient(calls: {
	readonly get?: Call;
	readonly list?: Call;
	readonly post?: Call;
	readonly patch?: Call;
	readonly mergePatch?: Call;
	readonly apply?: Call;
	readonly delete?: Call;
	/** Delays each POST or DELETE before it is sent, as obtaining credentials does. */
	readonly wait?: () => Promise<void> | void;
}): KubernetesClient {
	// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test knows what it asks for
	const answer = async <T>(call: Call | undefined, path: string, body?: unknown): Promise<T> => {
		if (!call) throw new Error(`unexpected call of ${path}`);
		return (await call(path, body)) as T;
	};
	const guarded = async <T>({ guard }: CallOptions = {}, send: () => Promise<T>): Promise<T> => {
		const waiting = calls.wait?.();
		if (waiting) await waiting;
		if (guard?.() === false) throw new NotSentError();
		return send();
	};
	return {
		server: "https://api.example.com",
		get: (path) => answer(calls.get, path),
		list: (path, query) => answer(calls.list, path, query),
		post: (path, body, options) => guarded(options, () => answer(calls.post, path, body)),
		patch: (path, body) => answer(calls.patch, path, body),
		mergePatch: (path, body) => answer(calls.mergePatch, path, body),
		apply: (path, body) => answer(calls.apply, path, body),
		delete: (path, body, options) => guarded(options, () => answer(calls.delete, path, body)),
		stream: (path) => answer(undefined, path),
		webSocket: (path) => answer(undefined, path),
		close: () => undefined,
	};
}

export function newContext(name: string, client: KubernetesClient = newClient({})): KubeContext {
	const agents = { namespace: "xpdb-system", account: undefined };
	return { name, namespace: "default", client, agents, suggest: suggestDefault };
}
