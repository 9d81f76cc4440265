// Generates random kubeconfigs in well-formed YAML, with odd values in every style.
import fc from "fast-check";
import { fileOf } from "./kubeconfig-row.ts";

/** Unquoted values that are valid inside a flow-style map. */
const plainWords = [
	"abc",
	"yes",
	"No",
	"on",
	"~",
	"null",
	"5",
	"0x1F",
	"017",
	"1_000",
	"1e3",
	".5",
	"2001-01-01",
	"true",
	"a:b",
	"a#b",
	"<<",
	"=",
	"y",
	"08",
	"-0b1",
	"+.inf",
	"12e03",
	"1:30",
	"_1",
	"0o8",
	"a b",
];
const quotedWords = ['"5"', "'yes'", '""', "''", '"\\x41"', "'a''b'", '"~"', '"a\\nb"'];
const tags = ["!!str ", "!!int ", "!!bool ", "!!float ", "!!null ", "!!binary ", "!mine ", "! "];

const scalar: fc.Arbitrary<string> = fc.oneof(
	{ weight: 4, arbitrary: fc.constantFrom("abc", "u", "one", "shop") },
	{ weight: 2, arbitrary: fc.constantFrom(...plainWords) },
	{ weight: 2, arbitrary: fc.constantFrom(...quotedWords) },
	{
		weight: 1,
		arbitrary: fc
			.tuple(fc.constantFrom(...tags), fc.constantFrom(...plainWords, ...quotedWords))
			.map(([tag, word]) => tag + word),
	},
	{ weight: 1, arbitrary: fc.constantFrom("*text", "*number") },
);

const flag = fc.constantFrom("true", "false", "yes", "Off", "y", "n", "~", "!!bool on", "TRUE");
const scalarOfText = fc.constantFrom(
	"abc",
	"shop",
	...quotedWords,
	"!!str 5",
	"!mine 5",
	"! 5",
	"!!binary YWJj",
	"1:30",
	"2001-01-01",
	"a:b",
	"a#b",
	"<<",
	"=",
	"~",
	"_1",
	"0o8",
	"a b",
	"*text",
	"-a",
	"1.2.3",
);

const value: fc.Arbitrary<string> = fc.oneof(
	{ weight: 12, arbitrary: fc.constantFrom("abc", "shop", ...quotedWords, "!!str 5", "1:30", "2001-01-01", "*text") },
	{ weight: 3, arbitrary: scalar },
	{ weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }).map((items) => `[${items.join(", ")}]`) },
	{
		weight: 1,
		arbitrary: fc
			.array(fc.tuple(fc.constantFrom("name", "value", "5", "yes", '"a"'), scalar), { maxLength: 2 })
			.map((pairs) => mapOf(pairs)),
	},
);

function mapOf(pairs: readonly (readonly [string, string])[]): string {
	return `{${pairs.map(([key, each]) => `${key}: ${each}`).join(", ")}}`;
}

/** Generates a value that is mostly of the field's type. */
function valueOf(name: string): fc.Arbitrary<string> {
	const list = fc.array(scalarOfText, { maxLength: 3 }).map((items) => `[${items.join(", ")}]`);
	const typed: Readonly<Record<string, fc.Arbitrary<string>>> = {
		"as-groups": list,
		args: list,
		"as-user-extra": fc
			.array(fc.tuple(fc.constantFrom("a", "5", "yes", "1.5", "0x10", '"5"'), list), { maxLength: 3 })
			.map(mapOf),
		env: fc
			.array(scalarOfText, { maxLength: 2 })
			.map((values) => `[${values.map((each, index) => `{name: A${index}, value: ${each}}`).join(", ")}]`),
		extensions: fc
			.array(value, { maxLength: 2 })
			.map((values) => `[${values.map((each, index) => `{name: e${index}, extension: ${each}}`).join(", ")}]`),
		"insecure-skip-tls-verify": flag,
		"disable-compression": flag,
		provideClusterInfo: flag,
		color: value,
	};
	return fc.oneof({ weight: 9, arbitrary: typed[name] ?? scalarOfText }, { weight: 1, arbitrary: value });
}

function fields(names: readonly string[]): fc.Arbitrary<string> {
	const merge = fc.constantFrom("*map", "[*map, *more]", "[*more, *map]", "{token: merged}");
	const pair = fc.oneof(
		{
			weight: 8,
			arbitrary: fc.constantFrom(...names).chain((name) => valueOf(name).map((each) => [name, each] as const)),
		},
		{ weight: 1, arbitrary: merge.map((each) => ["<<", each] as const) },
	);
	return fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.map(([key, each]) => `${key}: ${each}`).join(", "));
}

const exec = fields(["command", "args", "env", "installHint", "provideClusterInfo"]).map(
	(more) =>
		`exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never${more && `, ${more}`}}`,
);

const user = fc
	.oneof(
		{
			weight: 4,
			arbitrary: fields([
				"token",
				"as",
				"as-uid",
				"as-groups",
				"as-user-extra",
				"username",
				"password",
				"extensions",
				"color",
			]),
		},
		{ weight: 1, arbitrary: exec },
	)
	.map((text) => text || "token: abc");

/** Anchors that values refer to. */
const top = `x-text: &text abc
x-number: &number 5
x-map: &map {token: from-map, as: bob}
x-more: &more {token: from-more, username: alice}
`;

type Encode = (text: string) => string | Uint8Array;
const encodings: readonly Encode[] = [
	(text) => text,
	(text) => text.replaceAll("\n", "\r\n"),
	(text) => `\uFEFF${text}`,
	(text) => Buffer.from(`\uFEFF${text}`, "utf16le"),
	(text) => `---\n${text}---\nusers: 5\n`,
];

export const generatedKubeconfigs: fc.Arbitrary<string | Uint8Array> = fc
	.tuple(
		fields(["tls-server-name", "insecure-skip-tls-verify", "disable-compression", "extensions", "color"]),
		user,
		fields(["namespace", "extensions", "color"]),
		fields(["kind", "preferences", "extensions", "color", "current-context"]),
		fc.oneof(
			{ weight: 3, arbitrary: fc.constant(encodings[0] as Encode) },
			{ weight: 2, arbitrary: fc.constantFrom(...encodings) },
		),
		fc.constantFrom(false, false, false, true),
	)
	.map(([cluster, someone, context, more, encode, hasMore]) =>
		encode(
			top +
				fileOf({
					cluster,
					user: someone,
					context,
					top: hasMore
						? more
								.split(", ")
								.filter((each) => /^[\w-]+: [^{[]*$/.test(each))
								.join("\n")
						: "",
				}),
		),
	);
