// How a thread loads changed sources in place of those on disk.
import { registerHooks } from "node:module";

/** Source texts by URL. */
export type Sources = ReadonlyMap<string, string>;

/** From now on this thread loads these sources. Call it before anything else is loaded. */
export function loadSources(sources: Sources): void {
	registerHooks({
		// As Node resolves such an import, without a look at the disk.
		resolve: (specifier, context, nextResolve) =>
			/^\.\.?\/.*\.ts$/.test(specifier)
				? { url: new URL(specifier, context.parentURL).href, shortCircuit: true }
				: nextResolve(specifier, context),
		load: (url, context, nextLoad) => {
			const source = sources.get(url);
			return source === undefined
				? nextLoad(url, context)
				: { format: "module-typescript", source, shortCircuit: true };
		},
	});
}
