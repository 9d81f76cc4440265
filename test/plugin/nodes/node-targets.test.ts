import { describe, expect, test } from "vitest";
import { ConnectionError, kubectlErrorLine, SilentServerError } from "../../../plugin/kubernetes/api-error.ts";
import { splitContext } from "../../../plugin/nodes/find-in-contexts.ts";
import { resolveNodes } from "../../../plugin/nodes/node-targets.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";

function contextWith(name: string, nodes: readonly string[], cluster = name) {
	return newContext(
		name,
		newClient({
			get(path) {
				const node = path.slice("/api/v1/nodes/".length);
				if (!nodes.includes(node)) throw notFound(`nodes "${node}" not found`);
				return { metadata: { name: node, uid: `${cluster}-${node}` } };
			},
			list: () => nodes.map((node) => ({ metadata: { name: node, uid: `${cluster}-${node}` } })),
		}),
	);
}

const a = contextWith("a", ["n1", "shared"]);
const b = contextWith("b", ["n2", "shared"]);
const alias = contextWith("alias", ["n1"], "a");
const slashed = contextWith("arn:aws:cluster/b", ["n3"]);

interface Row {
	readonly name: string;
	readonly contexts: readonly ReturnType<typeof contextWith>[];
	readonly words: readonly string[];
	readonly selector?: string;
	readonly expected: readonly string[] | { readonly message: string; readonly hint?: string };
}

const rows: readonly Row[] = [
	{ name: "one context", contexts: [a], words: ["n1"], expected: ["a n1"] },
	{ name: "one context, node/NAME", contexts: [a], words: ["node/n1"], expected: ["a n1"] },
	{
		name: "one context without the node: the server's own words",
		contexts: [a],
		words: ["nope"],
		expected: { message: 'nodes "nope" not found' },
	},
	{ name: "found in one of two", contexts: [a, b], words: ["n2", "n1"], expected: ["b n2", "a n1"] },
	{
		name: "found in both",
		contexts: [a, b],
		words: ["shared"],
		expected: { message: 'node "shared" is in more than one context: a, b', hint: "Write a/shared or b/shared" },
	},
	{
		name: "the same node in two contexts of one cluster",
		contexts: [a, alias],
		words: ["n1"],
		expected: { message: 'contexts "a" and "alias" are the same cluster', hint: "Name each cluster once" },
	},
	{ name: "named with its context", contexts: [a, b], words: ["b/shared"], expected: ["b shared"] },
	{ name: "named with its context and type", contexts: [a, b], words: ["b/node/shared"], expected: ["b shared"] },
	{
		name: "in none",
		contexts: [a, b],
		words: ["nope"],
		expected: { message: 'node "nope" not found in any of the contexts a, b' },
	},
	{
		name: "named with the wrong context",
		contexts: [a, b],
		words: ["a/n2"],
		expected: { message: 'context a: nodes "n2" not found' },
	},
	{
		name: "a context with a slash in its name",
		contexts: [a, slashed],
		words: ["arn:aws:cluster/b/n3"],
		expected: ["arn:aws:cluster/b n3"],
	},
	{ name: "the same node twice is one node", contexts: [a, b], words: ["n1", "a/n1"], expected: ["a n1"] },
	{
		name: "a selector selects in every context",
		contexts: [a, b],
		words: [],
		selector: "x=y",
		expected: ["a n1", "a shared", "b n2", "b shared"],
	},
	{
		name: "another type",
		contexts: [a, b],
		words: ["pod/x"],
		expected: {
			message: '"pod/x" is not a node',
			hint: "Write NAME, node/NAME or CONTEXT/NAME with one of the contexts a, b",
		},
	},
	{
		name: "named with a context that the command does not work in",
		contexts: [{ ...a, known: ["a", "b", "east"] }],
		words: ["east/n2"],
		expected: {
			message: '"east/n2" is not a node',
			hint: '"east" is a context of the kubeconfig: add --contexts=east, or --contexts=a,east for both',
		},
	},
	{
		name: "named with a context with slashes that the command does not work in",
		contexts: [{ ...a, name: "", known: ["arn:aws:cluster/b"] }],
		words: ["arn:aws:cluster/b/n2"],
		expected: {
			message: "arguments in resource/name form may not have more than one slash",
			hint: '"arn:aws:cluster/b" is a context of the kubeconfig: add --contexts=arn:aws:cluster/b',
		},
	},
	{
		name: "named with a context that --contexts lacks",
		contexts: [{ ...a, known: ["a", "b", "east"] }, b],
		words: ["east/n2"],
		expected: {
			message: '"east/n2" is not a node',
			hint: '"east" is a context of the kubeconfig: add it to --contexts',
		},
	},
];

describe("resolveNodes()", () => {
	for (const { name, contexts, words, selector = "", expected } of rows) {
		test(name, async () => {
			const resolved = await resolveNodes(contexts, words, selector).then(
				({ nodes }) => nodes.map((node) => `${node.context.name} ${node.name}`),
				(error: unknown) => error,
			);
			expect(resolved).toMatchObject(expected);
		});
	}

	test("selects nodes as many at a time as the flag says", async () => {
		const asked: unknown[] = [];
		const list = async (_path: string, query: unknown) => {
			asked.push(query);
			return [];
		};
		await resolveNodes([newContext("c", newClient({ list }))], [], "pool=blue", { chunkSize: 7 });
		expect(asked).toEqual([{ labelSelector: "pool=blue", chunkSize: 7 }]);
	});

	const hung = (): ReturnType<typeof newContext> => {
		const error = new ConnectionError("https://ap", new SilentServerError("no connection within 10s"));
		return newContext("ap", newClient({ get: () => Promise.reject(error), list: () => Promise.reject(error) }));
	};
	const named = async (contexts: readonly ReturnType<typeof newContext>[], words: readonly string[], selector = "") => {
		const { nodes, lost } = await resolveNodes(contexts, words, selector);
		return {
			nodes: nodes.map(({ context, name }) => `${context.name}/${name}`),
			lost: lost.map((each) => `${each.context.name}: ${each.named.join(", ")}: ${kubectlErrorLine(each.error)}`),
		};
	};
	const noAnswer = 'Unable to connect to the server of context "ap": no connection within 10s';

	test("goes on without a context whose API server gives no answer, and remembers what was named there", async () => {
		expect(await named([a, hung()], ["a/n1", "ap/n7", "ap/n8"])).toEqual({
			nodes: ["a/n1"],
			lost: [`ap: n7, n8: ${noAnswer}`],
		});
	});

	test("asks such a context once", async () => {
		let asked = 0;
		const error = new ConnectionError("https://ap", new SilentServerError("no connection within 10s"));
		const silent = newContext(
			"ap",
			newClient({
				get() {
					asked += 1;
					throw error;
				},
			}),
		);
		await named([a, silent], ["a/n1", "ap/n7", "ap/n8"]);
		expect(asked).toBe(1);
	});

	test("selects in the others", async () => {
		expect(await named([a, hung(), b], [], "x=y")).toEqual({
			nodes: ["a/n1", "a/shared", "b/n2", "b/shared"],
			lost: [`ap: : ${noAnswer}`],
		});
	});

	test("touches nothing in a context that fell silent after a node of it was found", async () => {
		let asked = 0;
		const falling = newContext(
			"ap",
			newClient({
				get() {
					asked += 1;
					if (asked > 1) throw new ConnectionError("https://ap", new SilentServerError("no connection within 10s"));
					return { metadata: { name: "n7", uid: "ap-n7" } };
				},
			}),
		);
		expect(await named([a, falling], ["ap/n7", "a/n1", "ap/n8"])).toEqual({
			nodes: ["a/n1"],
			lost: [`ap: n8, n7: ${noAnswer}`],
		});
	});

	test("takes no name without its context while one of them may have it too", async () => {
		await expect(resolveNodes([a, hung()], ["n1"], "")).rejects.toMatchObject({
			message: 'node "n1" was found in a, but may be in context "ap" too, which gives no answer; nothing was touched',
			details: ["ap: no connection within 10s", "Name it with its context: a/n1"],
			exitCode: 4,
		});
	});

	test("fails as the context does where nothing is found in the others, and where there is one alone", async () => {
		await expect(resolveNodes([a, hung()], ["ap/n7"], "")).rejects.toMatchObject({ context: "ap" });
		await expect(resolveNodes([hung()], ["n7"], "")).rejects.toMatchObject({ context: undefined, isSilent: true });
	});

	test("an error other than NotFound names its context", async () => {
		const broken = newContext("c", newClient({ get: () => Promise.reject(new TypeError("broken")) }));
		await expect(resolveNodes([a, broken], ["n1"], "")).rejects.toThrow("broken");
	});
});

test("splitContext() takes the longest context that fits", () => {
	const contexts = [contextWith("x", []), contextWith("x/y", [])];
	expect(splitContext("x/y/z", contexts)).toMatchObject({ context: { name: "x/y" }, rest: "z" });
	expect(splitContext("x/z", contexts)).toMatchObject({ context: { name: "x" }, rest: "z" });
	expect(splitContext("q/z", contexts)).toEqual({ context: undefined, rest: "q/z" });
});
