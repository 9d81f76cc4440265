import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { loadKubeconfig } from "../../../plugin/kubernetes/kubeconfig.ts";
import { createScratchFolder } from "./scratch-folder.ts";

const { folder, write } = createScratchFolder("kubeconfig");

const first = write(
	"first",
	`
current-context: a
clusters: [{name: one, cluster: {server: "https://one", certificate-authority: ca.crt}}]
users: [{name: u, user: {token: from-first}}]
contexts: [{name: a, context: {cluster: one, user: u, namespace: shop}}]
`,
);
const second = write(
	"second",
	`
current-context: b
clusters: [{name: one, cluster: {server: "https://other"}}, {name: two, cluster: {server: "https://two"}}]
users: [{name: u, user: {token: from-second}}, {name: f, user: {tokenFile: token, as-groups: [g1]}}]
contexts: [{name: b, context: {cluster: two, user: f}}, {name: broken, context: {cluster: nowhere, user: f}}]
`,
);
const empty = write("empty", "");
const garbled = write("garbled", "clusters: [");
const wrong = write("wrong", "clusters: 3");
const dangling = write("dangling", "clusters: *nobody");
const deep = write("deep", "[".repeat(20_000));
const oddToken = write("odd-token", "users: [{name: u, user: {token: 5}}]");
const oddName = write("odd-name", "contexts: [{name: a}, {name: 193}]");
const oddArgument = write("odd-argument", "users: [{name: u, user: {exec: {args: [--account, 123]}}}]");
const twice = write("twice", "contexts: [{name: a}, {name: a}]");
const pod = write("pod", "apiVersion: v1\nkind: Pod");

const none = readGlobalFlags({});
const both = { KUBECONFIG: [first, join(folder, "missing"), empty, second].join(delimiter) };

describe("loadKubeconfig()", () => {
	test("of several files the first that has a name wins, missing and empty ones are skipped", () => {
		const kubeconfig = loadKubeconfig(none, both);
		expect(kubeconfig.currentContext).toBe("a");
		expect([...kubeconfig.contexts.keys()]).toEqual(["a", "b", "broken"]);
		expect(kubeconfig.clusters.get("one")).toMatchObject({
			server: "https://one",
			"certificate-authority": join(folder, "ca.crt"),
		});
		expect(kubeconfig.users.get("u")).toEqual({ token: "from-first" });
	});

	test("files of KUBECONFIG are named where none of them exists, and an empty list is not the one at home", () => {
		const missing = [join(folder, "missing"), join(folder, "gone")];
		expect(loadKubeconfig(none, { KUBECONFIG: missing.join(delimiter) }).missing).toEqual(missing);
		expect(loadKubeconfig(none, both).missing).toEqual([]);
		expect(loadKubeconfig(none, { HOME: folder }).missing).toEqual([]);
		expect(loadKubeconfig(none, both).skipped).toEqual([join(folder, "missing")]);
		write(join(".kube", "config"), "current-context: home");
		expect(loadKubeconfig(none, { KUBECONFIG: delimiter, HOME: folder }).currentContext).toBe("");
	});

	const failures: readonly { readonly path: string; readonly message: RegExp }[] = [
		{ path: join(folder, "missing"), message: /^error: stat .*missing: no such file or directory$/ },
		{ path: folder, message: /^error: error loading config file "(.*)": read \1: is a directory$/ },
		{ path: garbled, message: /^error: error loading config file ".*garbled": [^\n]+$/ },
		{ path: dangling, message: /^error: error loading config file ".*dangling": unknown anchor "nobody"$/ },
		{ path: deep, message: /^error: error loading config file ".*deep": it is nested too deeply$/ },
		{
			path: oddToken,
			message: /odd-token": token of user "u" is a number, not a string: put it in quotes$/,
		},
		{ path: wrong, message: /^error: error loading config file ".*wrong": clusters is a number, not a list$/ },
		{ path: oddName, message: /odd-name": contexts\[1\]\.name is a number, not a string: put it in quotes$/ },
		{
			path: oddArgument,
			message: /odd-argument": exec\.args\[1\] of user "u" is a number, not a string: put it in quotes$/,
		},
		{ path: twice, message: /twice": contexts has the name "a" twice$/ },
		{ path: pod, message: /pod": kind is "Pod" of apiVersion "v1", not "Config" of "v1"$/ },
		{
			path: join(first, "under-a-file"),
			message: /^error: error loading config file "(.*)": open \1: not a directory$/,
		},
	];
	for (const { path, message } of failures) {
		test(`--kubeconfig: ${message.source}`, () => {
			expect(() => loadKubeconfig(readGlobalFlags({ kubeconfig: path }), {})).toThrow(message);
		});
	}
});
