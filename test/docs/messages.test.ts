// Tests that the reasons, codes, commands and quoted lines in docs/messages.md are those of the code.
import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import type { UnavailablePod } from "../../disruption/budget/cluster.ts";
import { type DomainReason, domainErrors } from "../../disruption/errors.ts";
import { refusalReasons, waitReasons } from "../../disruption/budget/verdict.ts";
import { reasonCodes, reasons } from "../../plugin/events/reason.ts";
import { ownCheckReasons } from "../../plugin/check/check-reason.ts";
import { fixCommand } from "../../plugin/output/fix-command.ts";
import { planNeverReasons, planWaitReasons } from "../../plugin/plan/plan.ts";
import { statusOfError } from "../../proto/status.ts";
import { isSourceFile, listFiles, readSource } from "../architecture/source-files.ts";
import { identifierName, isNode, literalText, parseSource, walk } from "../architecture/syntax-tree.ts";
import { suggestDefault } from "../support/suggest-default.ts";

interface Entry {
	readonly title: string;
	/** The heading above the entry. */
	readonly part: string;
	readonly text: string;
}

const entries = readSource("docs/messages.md")
	.split(/^## /m)
	.slice(1)
	.flatMap((section): readonly Entry[] => {
		const [part = "", ...rest] = section.split(/\n### /);
		return rest.map((entry) => {
			const [title = "", ...lines] = entry.split("\n");
			return { title, part: part.split("\n")[0] ?? "", text: lines.join("\n") };
		});
	});
const names = entries.map(({ title }) => title.split(" ")[0] ?? "");
const entryOf = (reason: string): Entry => entries[names.indexOf(reason)] ?? { title: "", part: "", text: "" };

const shipped = listFiles()
	.filter((path) => /^(agent|disruption|plugin|proto)\//.test(path) && isSourceFile(path))
	.map((path) => ({ path, text: readSource(path) }));
const errorReasons = shipped.flatMap(({ path, text }) => findErrorReasons(path, text));

const onlyReads = /^kubectl (?:auth|describe|get|xpdb (?:budgets|check|explain|leases|ops|plan)) /;

function findErrorReasons(path: string, text: string): readonly string[] {
	const found: string[] = [];
	walk(parseSource(path, text), (node) => {
		const isReason = node.type === "PropertyDefinition" && identifierName(node["key"]) === "reason";
		const value = isReason && isNode(node["value"]) ? literalText(node["value"]) : undefined;
		if (value !== undefined) found.push(value);
		return undefined;
	});
	return found;
}

describe("docs/messages.md", () => {
	const all = new Set<string>([...reasons, ...planWaitReasons, ...planNeverReasons, ...errorReasons]);

	test("has each reason, once, and no other", () => {
		expect(errorReasons).toEqual(expect.arrayContaining(["Usage", "LeaseLost", "Certificate"]));
		expect(names.toSorted()).toEqual([...all].toSorted());
	});

	test.each(reasons)("has the code of %s, and the command that -o json has for it, with its label", (reason) => {
		const fix = fixCommand(reason, {
			context: "CONTEXT",
			suggest: suggestDefault,
			namespace: "NAMESPACE",
			pod: "POD",
			node: "NODE",
			budget: "NAMESPACE/BUDGET",
		});
		const { title, text } = entryOf(reason);
		expect(title).toBe(`${reason} (${reasonCodes[reason]})`);
		const [, label, command] = /^- (Look|Fix): `(.*)`$/m.exec(text) ?? [];
		expect(command).toBe(fix);
		expect(label).toBe(fix && (onlyReads.test(fix) ? "Look" : "Fix"));
	});

	test("has each code of check, once, in the order of the code, and says what it means and what to do", () => {
		const rows = [...readSource("docs/messages.md").matchAll(/^\| (XPDB\d{4}) \| `(\w+)` \| .{10,} \| .{4,} \|$/gm)];
		const own = Object.entries(ownCheckReasons).map(([reason, { code }]) => `${code} ${reason}`);
		expect(rows.map(([, code, reason]) => `${code} ${reason}`)).toEqual(own.toSorted());
		const codes = [...Object.values(ownCheckReasons).map(({ code }) => code), ...Object.values(reasonCodes)];
		expect(new Set(codes).size).toBe(codes.length);
	});

	test("says what each means, and what to do", () => {
		expect(entries.filter(({ text }) => !/^\n[A-Z`].{20}/.test(text) || !/^- Do: .{5}/m.test(text))).toEqual([]);
	});

	test("separates waits that end by themselves from budgets that need a change", () => {
		expect([...new Set(waitReasons.map((reason) => entryOf(reason).part))]).toEqual(["Waits that end by themselves"]);
		expect([...new Set(refusalReasons.map((reason) => entryOf(reason).part))]).toEqual(["Budgets that need a change"]);
	});

	test.each(Object.keys(domainErrors) as DomainReason[])("has the gRPC status of %s", (reason) => {
		const { code = status.OK } = statusOfError(new domainErrors[reason]("no", "here"));
		expect(entryOf(reason).text).toContain(`\`${status[code]}\``);
	});

	test("says who uses a budget up", () => {
		const whys: Readonly<Record<UnavailablePod["why"], true>> = { Reserved: true, Terminating: true, NotReady: true };
		const rows = [...entryOf("BudgetExhausted").text.matchAll(/^\| `(\w+)` \| .{10}/gm)].map(([, why]) => why);
		expect(rows).toEqual(Object.keys(whys));
	});

	test("quotes lines as the program has them", () => {
		const quoted = [...readSource("docs/messages.md").matchAll(/^\| `([^`]+ [^`]+)` \| \[/gm)].map(
			([, text = ""]) => text,
		);
		expect(quoted.length).toBeGreaterThan(15);
		expect(quoted.filter((line) => !shipped.some(({ text }) => text.includes(line)))).toEqual([]);
	});
});
