// Checks the integrity and the licences of the packages in package-lock.json.
export interface LockEntry {
	readonly version?: string;
	readonly integrity?: string;
	readonly resolved?: string;
	readonly link?: boolean;
	/** An SPDX expression. */
	readonly license?: string;
	/** Whether it is used only for development. */
	readonly dev?: boolean;
	readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Returns one line for each entry without proof of its contents. If the `resolved` URLs name several hosts, each of them gets a line, too.
 * This includes builds of our tools for other platforms.
 */
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

const shippable: ReadonlySet<string> = new Set([
	"0BSD",
	"Apache-2.0",
	"BSD-2-Clause",
	"BSD-3-Clause",
	"BlueOak-1.0.0",
	"CC0-1.0",
	"ISC",
	"MIT",
	"PSF-2.0",
	"Unlicense",
]);
/** Also licences of programs that are run but not shipped. */
const usable: ReadonlySet<string> = new Set([...shippable, "MPL-2.0"]);

/**
 * Returns one line for each package whose licence is unknown or not allowed. Development packages may have more licences, because they are
 * not shipped. `known` has the licences of packages that do not name theirs.
 */
export function findUnshippableLicences(
	packages: Readonly<Record<string, LockEntry>>,
	known: Readonly<Record<string, string>> = {},
): readonly string[] {
	return Object.entries(packages).flatMap(([path, { license, dev = false }]) => {
		if (path === "") return [];
		const expression = license ?? known[path.replace(/^.*node_modules\//, "")];
		if (expression === undefined) return [`${path} does not say its licence`];
		return allows(expression, dev ? usable : shippable) ? [] : [`${path} has the licence ${expression}`];
	});
}

/** Supports "MIT", "MIT OR CC0-1.0" and "(Apache-2.0 AND BSD-3-Clause)". Nested expressions are refused. */
function allows(expression: string, licences: ReadonlySet<string>): boolean {
	const parts = expression.replace(/^\((.*)\)$/, "$1");
	if (parts.includes(" OR ")) return parts.split(" OR ").some((each) => licences.has(each));
	return parts.split(" AND ").every((each) => licences.has(each));
}
