import { describe, expect, test } from "vitest";
import { type CodeEdit, editCode } from "./code-pattern.ts";

const source = `
const attempts = 3;

export function grant(pod: Pod, leases: readonly Lease[]): Answer {
	const free = leases.filter(({ holder }) => holder === "");
	if (free.length === 0) return { kind: "waiting", attempts };
	// Somebody else's.
	for (const lease of free) lease.pods.push(pod.uid, pod.name);
	return { kind: "granted", uid: pod.uid };
}

export class Line {
	#waiting: string[] = [];

	wake(name: string): void {
		this.#waiting = this.#waiting.filter((each) => each !== name);
		this.#notify(name);
	}

	#notify(name: string): void {
		report(name);
	}
}
`;

function edited(edit: Omit<CodeEdit, "file">, text = source): string {
	return editCode(text, { file: "a.ts", ...edit });
}

describe("editCode()", () => {
	const rows: readonly (Omit<CodeEdit, "file"> & { readonly name: string; readonly gives: string })[] = [
		{
			name: "an expression",
			symbol: "grant",
			find: "$free.length === 0",
			replace: "false",
			gives: 'if ((false)) return { kind: "waiting", attempts };',
		},
		{
			name: "a statement with what it does",
			symbol: "grant",
			find: "if ($free.length === 0) $wait;",
			replace: "if ($free.length > 9) $wait;",
			gives: 'if (free.length > 9) return { kind: "waiting", attempts };',
		},
		{
			name: "a statement that is taken out",
			symbol: "Line.wake",
			find: "this.#notify($$all);",
			replace: "",
			gives: "(each) => each !== name);\n\t\t\n\t}",
		},
		{
			name: "two neighbours",
			symbol: "Line.wake",
			find: "this.#waiting = $left; this.#notify($name);",
			replace: "this.#notify($name); this.#waiting = $left;",
			gives: "this.#notify(name); this.#waiting = this.#waiting.filter((each) => each !== name);\n\t}",
		},
		{
			name: "a list of arguments",
			symbol: "grant",
			find: "$lease.pods.push($$pods)",
			replace: "$lease.pods.unshift(0, $$pods)",
			gives: "(lease.pods.unshift(0, pod.uid, pod.name));",
		},
		{
			name: "a property",
			symbol: "grant",
			find: "{ uid: $pod.uid }",
			replace: "{ uid: $pod.name }",
			gives: 'return { kind: "granted",  uid: pod.name  };',
		},
		{
			name: "a property that is taken out",
			symbol: "grant",
			find: "{ uid: $uid }",
			replace: "",
			gives: 'return { kind: "granted", ...{} };',
		},
		{
			name: "a destructured name",
			symbol: "grant",
			find: '({ holder: $holder }) => $holder === ""',
			replace: "() => true",
			gives: "leases.filter((() => true));",
		},
		{ name: "a constant", symbol: "attempts", find: "3", replace: "1", gives: "const attempts = (1);" },
		{
			name: "a private method",
			symbol: "Line.#notify",
			find: "report($name);",
			replace: "void $name;",
			gives: "void name;",
		},
	];
	for (const { name, gives, ...edit } of rows) {
		test(`replaces ${name}`, () => {
			expect(edited(edit)).toContain(gives);
		});
	}

	test("fits where locals have other names, types and another layout", () => {
		const renamed = source
			.replaceAll("free", "unheld")
			.replaceAll(/\blease\b/g, "each")
			.replace("const unheld", "const unheld: readonly Lease[]")
			.replace("if (unheld.length === 0) return", "if (\n\t\tunheld.length === 0 // none\n\t)\n\t\treturn");
		expect(renamed).not.toContain("free");
		expect(edited({ symbol: "grant", find: "if ($free.length === 0) $wait;", replace: "" }, renamed)).not.toContain(
			'waiting",',
		);
	});

	test("refuses a pattern, and a replacement, that names a local variable", () => {
		expect(() => edited({ symbol: "grant", find: "free.length === 0", replace: "true" })).toThrow(
			"free is local to grant of a.ts",
		);
		expect(() => edited({ symbol: "grant", find: "$free.length === 0", replace: "pod.uid" })).toThrow(
			"pod is local to grant of a.ts",
		);
		expect(() => edited({ symbol: "grant", find: "({ holder }) => $test", replace: "true" })).toThrow(
			"holder is local to grant of a.ts",
		);
	});

	test("names what is not there, or there twice", () => {
		expect(() => edited({ symbol: "revoke", find: "$a", replace: "" })).toThrow("there is no revoke in a.ts");
		expect(() => edited({ symbol: "Line.sleep", find: "$a", replace: "" })).toThrow("there is no Line.sleep in a.ts");
		expect(() => edited({ symbol: "grant", find: "$free.length === 1", replace: "true" })).toThrow(
			"in grant of a.ts this stands 0 times, not once:\n$free.length === 1",
		);
		expect(() => edited({ symbol: "grant", find: "return $what;", replace: "" })).toThrow("this stands 2 times");
		expect(() => edited({ symbol: "grant", find: "$free.length === 0", replace: "$other" })).toThrow(
			"$other stands in the replacement and not in the pattern",
		);
	});

	test("takes two holes of one name for the same source", () => {
		expect(() => edited({ symbol: "grant", find: "$lease.pods.push($pod.uid, $pod.uid)", replace: "1" })).toThrow(
			"0 times",
		);
		expect(edited({ symbol: "grant", find: "$lease.pods.push($pod.uid, $pod.name)", replace: "1" })).toContain("(1);");
	});

	test("throws where the file cannot be read", () => {
		expect(() => edited({ symbol: "grant", find: "$a", replace: "" }, "function (")).toThrow(SyntaxError);
	});
});
