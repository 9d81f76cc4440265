// Tests that wordings which confused readers are absent from messages, help, screens, comments, the wire contract, manifests and pages.
import { describe, expect, test } from "vitest";
import { isGenerated, listFiles, readSource } from "../architecture/source-files.ts";
import { type Prose, proseOf } from "./prose-of.ts";

/** Phrases with their replacements. A phrase also matches across lines and in upper case. */
const forbidden: Readonly<Record<string, string>> = {
	anybody: "any user, any caller",
	nobody: "no run, no user, none; or say what is unknown",
	somebody: "another user, a person, someone",
	whence: "from which",
	whoever: "every user that, the caller that",
	"all the same": "still",
	"and ends that": "one line for each command",
	"as long as others take": "waits for pods outside this drain",
	"as they should be": "unchanged",
	"asked for yet": "requested yet",
	"at zero": "used up",
	"bear that": "tolerate this",
	"cannot answer": "the API server has not answered",
	"cannot cover": "cannot reach every cluster of the fleet",
	"certificates that are there": "existing certificates",
	"come to stand": "complete the handshake",
	"does not understand": "does not support",
	"ends by no time": "never expires",
	"eviction back": "blocks no eviction",
	"finds it in order": "allows it",
	"for kubectl's sake": "accepted and ignored",
	"for want of": "without",
	"frees when it is ready": "frees when Ready",
	"go on with": "resume, continue with",
	"gone to sleep": "stalled",
	"hand on at once": "forward immediately",
	"healthy, has": "no disruption left: 5 of 6 healthy, 5 required",
	"heard of": "last seen, heard from",
	"hold nothing back": "suspend",
	"holds nothing back": "blocks no eviction",
	"in all members of the fleet, and why": "in every cluster",
	"in the way": "conflict, what prevents it",
	"is believed": "is trusted",
	"is kept away from": "is excluded",
	"is no JSON": "is not JSON",
	"is no list": "is not a list",
	"is no object": "is not an object",
	"is no YAML": "is not YAML",
	"it began to wait": "2nd of 2 in line for this budget",
	"it is of": "name what it belongs to",
	"it waits since": "waiting since",
	"keeps its drain": "blocks the drain",
	"left alone": "skipped",
	"left behind:": "still cordoned: c1/c1-n0",
	"let go": "release",
	"may go now": "can be evicted now",
	"no answer stays one": "a missing answer is final",
	"none of xpdb so far": "none",
	"not believed": "refused",
	"not keep the line": "ended the wait without granting the lease",
	"not yours": "no permission for this budget",
	"or was and is not done": "belongs to an unfinished drain",
	"put once": "sent once",
	"say it is": "for example",
	"second opinion": "the same events as -o json",
	"see to it": "make sure",
	"six of the characters": "six hex digits",
	"static or ending": "static or terminating",
	"takes connections": "source CIDRs allowed to connect",
	"takes the output": "reads the output",
	"that may be down": "allowed",
	"the line ends where": "no data after this",
	"to be known by": "to authenticate as",
	"waiting for PeerUnreachable": "waiting for cluster c3 to answer",
	"what came between": "warnings and outages",
	"what is red": "the failing tests",
	"which is a no": "treated as no",
	"who does not": "which clusters answer",
	"who is stuck": "a stuck run",
};

const phrases = Object.entries(forbidden).map(([phrase, instead]) => ({
	phrase,
	instead,
	pattern: new RegExp(`(?<![\\w-])${phrase.replaceAll(" ", "\\s+")}(?!\\w)`, "gi"),
}));

/** A copy of manifests in agent/. */
const copied = /deploy-texts\.json$/;
const read = listFiles().filter(
	(path) =>
		(/^(agent|disruption|plugin|proto)\/.*\.(tsx?|proto|yaml|tpl|json)$/.test(path) ||
			/^(README\.md|docs\/.*\.md)$/.test(path)) &&
		!isGenerated(path) &&
		!copied.test(path),
);

function findForbidden(path: string, text: string): readonly string[] {
	return proseOf(path, text).flatMap(({ line, text: prose }: Prose) =>
		phrases.flatMap(({ phrase, instead, pattern }) =>
			[...prose.matchAll(pattern)].map(({ index }) => {
				const place = line + prose.slice(0, index).split("\n").length - 1;
				return `${path}:${place} "${phrase}": write "${instead}"`;
			}),
		),
	);
}

describe("what people read", () => {
	test("has no wording that readers stumbled over", () => {
		expect(read.length).toBeGreaterThan(600);
		expect(read.flatMap((path) => findForbidden(path, readSource(path)))).toEqual([]);
	});
});

describe("the search for such wordings", () => {
	test.each([
		["a string", 'const a = "Nobody waits";'],
		["a template", "const a = `${b} waits for nobody`;"],
		["the hole of a template", 'const a = `waits for ${b ? "nobody" : ""}`;'],
		["a property", '({ "x-1": "nobody" });'],
		["a comment", "// For nobody."],
	])("reads %s", (_, text) => {
		expect(findForbidden("plugin/a.ts", `\n${text}`)).toEqual([expect.stringMatching(/^plugin\/a\.ts:2 "nobody": /)]);
	});

	test.each([
		["pieces of a text", 'const a = `${b} is ` +\n\t"believed";'],
		["lines of a comment", "// It is\n// believed."],
		["lines of a comment on a declaration", "/**\n * It is\n * believed.\n */"],
	])("joins %s", (_, text) => {
		expect(findForbidden("plugin/a.ts", text)).toEqual([expect.stringContaining('"is believed"')]);
	});

	test("reads text between elements", () => {
		expect(findForbidden("plugin/a.tsx", "const a = <Text>waits for nobody</Text>;")).toHaveLength(1);
	});

	test("reads all of a contract, a manifest and a page, but no name of a mutant", () => {
		expect(findForbidden("proto/a.proto", "// a\n// For nobody.")).toEqual([
			expect.stringContaining("proto/a.proto:2 "),
		]);
		expect(findForbidden("docs/a.md", "It is\nbelieved, see `resumed-for-nobody`.")).toHaveLength(1);
	});

	test("ignores names and imports", () => {
		expect(
			findForbidden("plugin/a.ts", 'import { b } from "./nobody.ts";\nconst nobody = whileNobodyDrains(b);'),
		).toEqual([]);
	});
});
