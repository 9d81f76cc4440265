import { describe, expect, test } from "vitest";
import { readSubject } from "../../../plugin/plan/explain/read-subject.ts";
import { newContext } from "../../support/build-context.ts";

const contexts = [newContext("eu"), newContext("us")];

describe("readSubject()", () => {
	test.each([
		{ words: ["pod/db-0"], is: { kind: "Pod", rest: "db-0" } },
		{ words: ["pod", "db-0"], is: { kind: "Pod", rest: "db-0" } },
		{ words: ["po", "pod/db-0"], is: { kind: "Pod", rest: "db-0" } },
		{ words: ["eu/pod/db-0"], is: { kind: "Pod", rest: "db-0", context: contexts[0] } },
		{ words: ["pod", "us/db-0"], is: { kind: "Pod", rest: "db-0", context: contexts[1] } },
		{ words: ["Budget/db"], is: { kind: "Budget", rest: "db" } },
		{ words: ["xpdb", "db"], is: { kind: "Budget", rest: "db" } },
		{ words: ["xpoddisruptionbudget.x-pdb.form3.tech/db"], is: { kind: "Budget", rest: "db" } },
		{ words: ["no/n1"], is: { kind: "Node", rest: "n1" } },
	])("reads $words", ({ words, is }) => {
		expect(readSubject(words, contexts)).toMatchObject(is);
	});

	test.each([
		{ words: ["east/pod/db-0"], message: "arguments in resource/name form may not have more than one slash" },
		{ words: ["pod", "east/db-0"], message: '"east" is neither pod, budget nor node, nor a context of --contexts' },
		{ words: ["east/db-0"], message: '"east" is neither pod, budget nor node, nor a context of --contexts' },
	])("names the flag that $words lacks", ({ words, message }) => {
		const [eu = newContext("eu"), ...others] = contexts;
		const hint = '"east" is a context of the kubeconfig: add it to --contexts';
		expect(() => readSubject(words, [{ ...eu, known: ["eu", "us", "east"] }, ...others])).toThrow(
			expect.objectContaining({ message, hint }),
		);
	});

	test.each([
		{ words: [], says: "what should be explained?" },
		{ words: ["node"], says: "which node?" },
		{ words: ["n1"], says: 'is "n1" a pod, a budget or a node?' },
		{ words: ["pod/a", "pod/b"], says: "these are 2" },
		{ words: ["pod", "a", "b", "c"], says: "these are 3" },
		{ words: ["pod", "node/a"], says: '"node" is neither' },
		{ words: ["deploy/web"], says: '"deploy" is neither pod, budget nor node, nor a context of --contexts' },
		{ words: ["eu/"], says: "may not be empty" },
		{ words: ["pod/"], says: "must have a single resource and name" },
		{ words: ["pod", ""], says: "resource name may not be empty" },
		{ words: ["pod/a/b"], says: "more than one slash" },
		{ words: ["pod/.."], says: "may not be '..'" },
	])("refuses $words", ({ words, says }) => {
		expect(() => readSubject(words, contexts)).toThrow(says);
	});
});
