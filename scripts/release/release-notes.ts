// Takes the notes of a release from its section of CHANGELOG.md.

export interface Release {
	/** From package.json. */
	readonly version: string;
	/** For example "v0.2.0". */
	readonly tag: string;
	readonly changelog: string;
}

/** @throws Error if the three do not agree, or if the changelog's section has no date yet or is empty. */
export function releaseNotes({ version, tag, changelog }: Release): string {
	if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, and package.json says ${version}`);
	const [, ...sections] = changelog.split(/^## /m);
	const section = sections.find((each) => each.startsWith(`[${version}]`));
	if (section === undefined) throw new Error(`CHANGELOG.md says nothing of ${version}`);
	const [heading = "", ...lines] = section.split("\n");
	if (!/\] - \d{4}-\d\d-\d\d$/.test(heading))
		throw new Error(`CHANGELOG.md has no day for ${version}: "## ${heading}"`);
	const notes = lines.join("\n").trim();
	if (notes === "") throw new Error(`CHANGELOG.md says nothing of ${version}`);
	return `${notes}\n`;
}
