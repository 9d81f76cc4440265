// Connects the fleet while the requested nodes or pods are read, because the user waits for both.
import type { Connecting } from "../fleet/connect-fleet.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { LostContext } from "../nodes/find-in-contexts.ts";
import { answeringContexts } from "./lost-contexts.ts";

interface Found<Target> {
	readonly targets: readonly Target[];
	/** Contexts whose API servers do not answer. The run continues without them. */
	readonly lost: readonly LostContext[];
}

type Connection = Pick<Connecting, "connection">;

/**
 * The connection may leave out contexts without targets. If `find` loses contexts, connects again through those that answer. The caller
 * must close the connection.
 */
export async function connectWhileFinding<Target extends { readonly context: KubeContext }, C extends Connection>(
	contexts: readonly KubeContext[],
	find: () => Promise<Found<Target>>,
	connect: (contexts: readonly KubeContext[], mayLose: (context: KubeContext) => Promise<boolean>) => C,
): Promise<Found<Target> & { readonly connecting: C }> {
	const { promise, resolve, reject } = Promise.withResolvers<readonly Target[]>();
	promise.catch(() => undefined);
	const begin = (those: readonly KubeContext[]): C => {
		const begun = connect(those, async (context) => (await promise).every((target) => target.context !== context));
		// Prevents an unhandled rejection. If `find` also fails, its error is reported instead, for example a wrong name.
		begun.connection.catch(() => undefined);
		return begun;
	};
	const first = begin(contexts);
	try {
		const found = await find();
		resolve(found.targets);
		if (found.lost.length === 0) return { ...found, connecting: first };
		void closeConnection(first);
		return { ...found, connecting: begin(answeringContexts(contexts, found.lost)) };
	} catch (error) {
		reject(error);
		void closeConnection(first);
		throw error;
	}
}

/** Ignores errors: most callers do not wait, and a tunnel's folder may be busy. */
export async function closeConnection({ connection }: Connection): Promise<void> {
	await connection.then(({ fleet }) => fleet?.close()).catch(() => undefined);
}
