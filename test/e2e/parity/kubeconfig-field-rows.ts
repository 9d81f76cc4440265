// Lists kubeconfigs for each field, at least four per field: correct, empty, and of wrong types.
import { certificate, privateKey } from "../../support/sample-certificate.ts";
import { type FileParts, fileOf, type KubeconfigRow, row, server } from "./kubeconfig-row.ts";

const data = Buffer.from(certificate).toString("base64");
const keyData = Buffer.from(privateKey).toString("base64");

type Place = (field: string) => FileParts;
const inCluster: Place = (field) => ({ cluster: field });
const inUser: Place = (field) => ({ user: field });
const inContext: Place = (field) => ({ context: field });
const execOf = (fields: string): string =>
	`exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, ${fields}}`;
const inExec: Place = (field) => ({ user: execOf(field) });

function rowsOf(what: string, place: Place, field: string, values: readonly string[]): readonly KubeconfigRow[] {
	return values.map((value) =>
		row(`${what}: ${field}: ${value}`.replaceAll(/[A-Za-z\d+/=]{60,}/g, "DATA"), place(`${field}: ${value}`)),
	);
}

/** Values of wrong types, and unusual values that are accepted. */
const oddTexts = ["5", "true", "[a]", "{a: b}", "null", '""', "1.5e3", "!!str 5"];
const oddLists = ["a", "[1]", "[true]", "{a: b}", "null", "[]", "[null]", "[[a]]", "5"];
const oddFlags = ["yes", "off", '"true"', "1", "null", "[true]", "{}", "y", "TRUE", "tRUE"];
const oddMaps = ["a", "[a]", "null", "{}", "5"];

const clusterRows: readonly KubeconfigRow[] = [
	...rowsOf("cluster", inCluster, "tls-server-name", ["example.com", "10.0.0.1", ...oddTexts]),
	...rowsOf("cluster", inCluster, "certificate-authority", [
		"ca.crt",
		"./ca.crt",
		"nowhere.crt",
		"not.pem",
		...oddTexts,
	]),
	...rowsOf("cluster", inCluster, "certificate-authority-data", [
		data,
		`${data.slice(0, 40)} ${data.slice(40)}`,
		"hello",
		"aGVsbG8=",
		"aGVsbG8",
		'"!!"',
		...oddTexts,
	]),
	...rowsOf("cluster", inCluster, "certificate-authority-data", ["[104, 105]", "[300]", '["a"]', "[]"]),
	...rowsOf("cluster", inCluster, "proxy-url", [
		"http://127.0.0.1:1",
		"socks5://127.0.0.1:1",
		"foo",
		"ftp://a",
		"socks5h://a",
		...oddTexts,
	]),
	...rowsOf("cluster", inCluster, "insecure-skip-tls-verify", ["true", "false", ...oddFlags]),
	...rowsOf("cluster", inCluster, "disable-compression", ["true", "false", ...oddFlags]),
	...rowsOf("cluster", inCluster, "extensions", [
		"[{name: a, extension: {b: 1}}]",
		"[{name: a}, {name: a}]",
		"[{extension: 5}]",
		"[{name: 5}]",
		...oddLists,
	]),
	row("cluster: a file and data", inCluster(`certificate-authority: ca.crt, certificate-authority-data: ${data}`)),
	row(
		"cluster: an authority that is not checked",
		inCluster("certificate-authority: ca.crt, insecure-skip-tls-verify: true"),
	),
	...[`"${server}"`, '"127.0.0.1:1"', `"${server}//"`, `"${server}/a/../b//c/"`, `"${server}/?a=b#c"`, ...oddTexts].map(
		(value) => row(`cluster: server: ${value}`, fileOf({}).replace(`"${server}"`, value)),
	),
];

const texts: Readonly<Record<string, readonly string[]>> = {
	"client-certificate": ["client.crt", "client.crt, client-key: client.key", "nowhere.crt, client-key: client.key"],
	"client-certificate-data": [`${data}, client-key-data: ${keyData}`, `${data}, client-key: client.key`, "aGVsbG8="],
	"client-key": ["client.key", "client.key, client-certificate: client.crt"],
	"client-key-data": [keyData, `${keyData}, client-key: client.key, client-certificate: client.crt`],
	token: ["abc", "abc, username: a", "abc, tokenFile: nowhere", "abc, tokenFile: token"],
	tokenFile: ["token", "nowhere", "./token"],
	as: ["bob", "system:serviceaccount:a:b"],
	"as-uid": ["abc, as: bob", "5, as: bob", '"5", as: bob'],
	username: ["a", "a, password: b"],
	password: ["b", "5, username: a"],
};

const userRows: readonly KubeconfigRow[] = [
	...Object.entries(texts).flatMap(([field, values]) => rowsOf("user", inUser, field, [...values, ...oddTexts])),
	...rowsOf("user", inUser, "as-groups", ["[a, b], as: bob", "[a]", "[1], as: bob", ...oddLists]),
	...rowsOf("user", inUser, "as-user-extra", [
		"{a: [b]}, as: bob",
		"{a: [b]}",
		"{a: b}, as: bob",
		"{a: [1]}, as: bob",
		"{1: [b], yes: [c], 1.5: [d], 0x10: [e]}, as: bob",
		"{~: [b]}, as: bob",
		"{a: null}, as: bob",
		"{1e6: [a], 1234567.0: [b], .inf: [c], 0.1: [d]}, as: bob",
		...oddMaps,
	]),
	...rowsOf("user", inUser, "auth-provider", [
		"{name: oidc, config: {a: b}}",
		"{name: oidc, config: {a: 1}}",
		"{name: oidc, config: [a]}",
		"{name: 5}",
		"{name: gcp}",
		"{name: azure}",
		"{name: x}",
		...oddMaps,
	]),
	...rowsOf("user", inUser, "exec", oddMaps),
	...rowsOf("user", inUser, "extensions", ["[{name: a, extension: {b: 1}}]", "[{name: a}, {name: a}]", ...oddLists]),
	row("user: exec and auth-provider", inUser(`${execOf("")}, auth-provider: {name: oidc}`)),
	row("user: exec and a token", inUser(`${execOf("")}, token: abc`)),
	row("user: exec and a tokenFile", inUser(`${execOf("")}, tokenFile: token`)),
	row("user: exec and a password", inUser(`${execOf("")}, username: a, password: b`)),
	row("user: exec and a certificate", inUser(`${execOf("")}, client-certificate: client.crt, client-key: client.key`)),
	row("user: exec and a certificate without a key", inUser(`${execOf("")}, client-certificate: client.crt`)),
	row("user: exec and a key", inUser(`${execOf("")}, client-key: client.key`)),
	row("user: exec and impersonation", inUser(`${execOf("")}, as: bob`)),
];

const execRows: readonly KubeconfigRow[] = [
	...["./login", "no-such-login", "sh", ...oddTexts].map((value) =>
		row(`exec: command: ${value}`, inUser(execOf(`command: ${value}`))),
	),
	...rowsOf("exec", inExec, "args", [
		"[a, b]",
		"[--account, 123]",
		'[--account, "123"]',
		"[yes]",
		"[2001-01-01]",
		...oddLists,
	]),
	...rowsOf("exec", inExec, "env", [
		"[{name: A, value: b}]",
		"[{name: A, value: 5}]",
		"[{name: A}]",
		"[{value: b}]",
		"[{name: 5, value: b}]",
		"[{name: PATH, value: /nowhere}]",
		...oddLists,
	]),
	...rowsOf("exec", inExec, "apiVersion", [
		"client.authentication.k8s.io/v1beta1",
		"client.authentication.k8s.io/v1alpha1",
		"client.authentication.k8s.io/v2",
		...oddTexts,
	]),
	...rowsOf("exec", inExec, "installHint", ["Install it", ...oddTexts]),
	...rowsOf("exec", inExec, "provideClusterInfo", ["true", "false", ...oddFlags]),
	...rowsOf("exec", inExec, "interactiveMode", ["IfAvailable", "Always", "never", ...oddTexts]),
	row(
		"exec: old, without interactiveMode",
		inUser("exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1beta1}"),
	),
];

const contextRows: readonly KubeconfigRow[] = [
	...["one", "nowhere", ...oddTexts].map((value) =>
		row(`context: cluster: ${value}`, fileOf({}).replace("cluster: one,", `cluster: ${value},`)),
	),
	...["u", "nobody", ...oddTexts].map((value) =>
		row(`context: user: ${value}`, fileOf({}).replace("user: u}", `user: ${value}}`)),
	),
	...rowsOf("context", inContext, "namespace", ["shop", ...oddTexts]),
	...rowsOf("context", inContext, "extensions", [
		"[{name: a, extension: {b: 1}}]",
		"[{name: a}, {name: a}]",
		...oddLists,
	]),
];

const named = (kind: string, value: string): string =>
	({
		context: fileOf({}).replace("name: a,", `name: ${value},`),
		cluster: fileOf({}).replace("name: one,", `name: ${value},`),
		user: fileOf({}).replace("name: u,", `name: ${value},`),
	})[kind] ?? "";

const topRows: readonly KubeconfigRow[] = [
	...["context", "cluster", "user"].flatMap((kind) =>
		[...oddTexts, "433e40", "193"].map((value) => row(`name of a ${kind}: ${value}`, named(kind, value))),
	),
	...["b", "193", ...oddTexts].map((value) =>
		row(`current-context: ${value}`, fileOf({}).replace("current-context: a", `current-context: ${value}`)),
	),
	...["Config", "Pod", "config", ...oddTexts].map((value) => row(`kind: ${value}`, { top: `kind: ${value}` })),
	...["v1", "v2", "apps/v1", "/v1", "a/b/c", ...oddTexts].map((value) =>
		row(`apiVersion: ${value}`, { top: `apiVersion: ${value}` }),
	),
	...["{colors: true}", "{colors: yes}", "{colors: 5}", "{extensions: [{name: a}, {name: a}]}", ...oddMaps].map(
		(value) => row(`preferences: ${value}`, { top: `preferences: ${value}` }),
	),
	...["[{name: a}, {name: a}]", ...oddLists].map((value) =>
		row(`extensions: ${value}`, { top: `extensions: ${value}` }),
	),
	row("KIND in capitals", { top: "KIND: Pod" }),
	row("ApiVersion in mixed case, and the usual one", { top: "ApiVersion: v2\napiVersion: v1" }),
	...["clusters", "users", "contexts"].flatMap((list) =>
		["null", "[]", "{}", "a", "[null]", "[a]", "[[]]"].map((value) =>
			row(`${list}: ${value}`, fileOf({}).replace(new RegExp(`^${list}: .*$`, "m"), `${list}: ${value}`)),
		),
	),
	row("a field in other letters is another field", inUser("Token: 5, TOKEN: abc")),
	row("a field that kubectl does not know", { user: "color: 5", top: "x: [1]" }),
];

export const kubeconfigFieldRows: readonly KubeconfigRow[] = [
	...clusterRows,
	...userRows,
	...execRows,
	...contextRows,
	...topRows,
];
