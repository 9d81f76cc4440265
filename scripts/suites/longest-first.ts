import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { longFiles } from "./suites.ts";

/** Starts the files that take longest first, so that none of them runs alone at the end. */
export class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const place = ({ moduleId }: TestSpecification): number => {
			const index = longFiles.indexOf(relative(process.cwd(), moduleId));
			return index === -1 ? longFiles.length : index;
		};
		return files.toSorted((a, b) => place(a) - place(b));
	}
}
