// What package-lock.json must say, so that nobody can put other bytes in the place of a dependency.
export interface LockEntry {
	readonly version?: string;
	readonly integrity?: string;
	readonly resolved?: string;
	readonly link?: boolean;
	readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** One line for each entry that is not proven: the builds of our tools for other platforms than this one too. */
export function findUnprovenPackages(packages: Readonly<Record<string, LockEntry>>): readonly string[] {
	const entries = Object.entries(packages).filter(([path]) => path !== "");
	const places = new Set(entries.flatMap(([, { resolved }]) => (resolved === undefined ? [] : [hostOf(resolved)])));
	return entries.flatMap(([path, entry]) => {
		if (entry.link === true) return [`${path} is a link`];
		if (entry.resolved !== undefined && !entry.resolved.startsWith("https:")) return [`${path} is not from a registry`];
		if (entry.resolved !== undefined && places.size > 1) return [`${path} is from ${hostOf(entry.resolved)}`];
		if (entry.integrity === undefined) return [`${path} has no integrity`];
		return /^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity) ? [] : [`${path} has the integrity ${entry.integrity}`];
	});
}

function hostOf(url: string): string {
	return URL.canParse(url) ? new URL(url).host : url;
}
