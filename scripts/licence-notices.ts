// Collects the licences of the packages in a bundle. Most licences require that their text is distributed with the code.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./repository-root.ts";

/** Matches LICENSE, LICENCE.md, UNLICENSE, COPYING, NOTICE and similar names. */
const noticeFile = /^((un)?licen[cs]e|copying|notice)([-.].*)?$/i;
const rule = "=".repeat(100);

const mitLicence = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH
THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Returns the files of each package, by the package's folder from the root, for example "node_modules/yargs". */
export function packagesOf(inputs: readonly string[]): ReadonlyMap<string, readonly string[]> {
	const packages = new Map<string, string[]>();
	for (const path of inputs.toSorted()) {
		const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
		if (folder !== undefined) packages.set(folder, [...(packages.get(folder) ?? []), path]);
	}
	return packages;
}

/**
 * Returns all licences in one text. `programs` begins its first sentence, for example "kubectl-xpdb has". Throws if a package contains
 * neither a licence nor usable notices.
 */
export function licenceNotices(programs: string, packages: ReadonlyMap<string, readonly string[]>): string {
	const notices = [...packages].map(([folder, inputs]) => {
		const text = readFileSync(join(repositoryRoot, folder, "package.json"), "utf8");
		const { name, version, license } = JSON.parse(text) as { name: string; version: string; license: string };
		const files = readdirSync(join(repositoryRoot, folder)).filter((file) => noticeFile.test(file));
		const texts = files.toSorted().map((file) => readFileSync(join(repositoryRoot, folder, file), "utf8").trim());
		if (texts.length === 0) texts.push(...textsWithoutFile(license, inputs));
		if (texts.length === 0) throw new Error(`${name} ${version} is bundled and brings no text of its licence`);
		return `${rule}\n${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`;
	});
	return `${programs} code of the following packages inside.\n\n${notices.join("\n")}`;
}

/** Returns the notice of Node itself and of everything in it, for a program that contains Node. */
export function nodeNotice(version: string, licence: string): string {
	return `\n${rule}\nNode.js ${version}, in the program that needs no Node beside it\n\n${licence.trim()}\n`;
}

/**
 * Returns the copyright notices in a package's sources, and the text of its licence. Empty if there are no notices, or if the licence is
 * neither MIT nor Apache-2.0.
 */
function textsWithoutFile(license: string, inputs: readonly string[]): readonly string[] {
	const isApache = /\bApache-2\.0\b/.test(license);
	if (!isApache && license !== "MIT") return [];
	const comments = inputs.flatMap(
		(path) => readFileSync(join(repositoryRoot, path), "utf8").match(/(^ *\/\/.*\n)+|\/\*[^]*?\*\//gm) ?? [],
	);
	const notices = comments.filter((comment) => /copyright/i.test(comment)).map((comment) => comment.trim());
	if (notices.length === 0) return [];
	return [...new Set(notices), isApache ? readFileSync(join(repositoryRoot, "LICENSE"), "utf8").trim() : mitLicence];
}
