// Makes a thread load changed sources in place of those on disk.
import { registerHooks } from "node:module";

/** Source texts by URL. */
export type Sources = ReadonlyMap<string, string>;

/** Call it before any of these modules is loaded. */
export function loadSources(sources: Sources): void {
	registerHooks({
		// Resolves a relative import as Node does, but without reading the disk.
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
