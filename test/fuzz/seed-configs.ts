// Valid texts that users and other programs write for xpdb: kubeconfigs, the fleet's ConfigMap, and flags.
import { certificate, privateKey } from "../support/sample-certificate.ts";

const pem = Buffer.from(certificate).toString("base64");
const keyPem = Buffer.from(privateKey).toString("base64");

export const kubeconfigs: readonly string[] = [
	`apiVersion: v1
kind: Config
current-context: eu
clusters:
- name: eu
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority: ca.crt
    tls-server-name: kubernetes
- name: plain
  cluster: {server: "http://127.0.0.1:8080/prefix"}
users:
- name: alice
  user:
    client-certificate: alice.crt
    client-key: alice.key
    as: bob
    as-uid: "7"
    as-groups: [admins]
    as-user-extra: {reason: [night]}
- name: token
  user: {token: abc}
- name: program
  user: {exec: {command: ./login, args: [a], env: [{name: A, value: b}], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, provideClusterInfo: true}}
contexts:
- name: eu
  context: {cluster: eu, user: alice, namespace: shop}
- name: other
  context:
    cluster: plain
    user: token
- name: by-program
  context: {cluster: plain, user: program}
`,
	JSON.stringify({
		"current-context": "c",
		clusters: [{ name: "c", cluster: { server: "https://api.example.com", "certificate-authority-data": pem } }],
		users: [{ name: "c", user: { "client-certificate-data": pem, "client-key-data": keyPem, token: "x" } }],
		contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
	}),
	"",
];

export const yamlWords: readonly string[] = [
	"\n",
	"  ",
	"- ",
	": ",
	"{",
	"}",
	"[",
	"]",
	"\t",
	"'",
	'"',
	"|\n",
	">\n",
	"#",
	":99999",
	":0",
	"---\n",
	"...\n",
	"%YAML 9.9\n",
	"? ",
	"&a ",
	"*a",
	"*b",
	"<<: *a",
	"!!binary ",
	"!!float ",
	"!x ",
	"!!set ",
	"null",
	"~",
	"yes",
	"0x1f",
	".inf",
	"2026-11-21",
	'"\\uD800"',
	'"\\0"',
	"&a [*a]",
	"&a {a: *a}",
	"https://",
	"http://[",
	"unix:/x",
	"://",
	"\u0000",
	"\ufeff",
	"@",
	"`",
	"[".repeat(3_000),
	"{a: ".repeat(3_000),
	"- ".repeat(3_000),
	"&a [1,1,1,1,1,1,1,1,1], &b [*a,*a,*a,*a,*a,*a,*a,*a,*a], &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]",
];

export const fleets: readonly string[] = [
	`- id: 0f0d2f60-0000-4000-8000-000000000001
  name: eu-1
  address: 10.0.0.1:8444
- {id: two, name: us-1, address: "[fd00::1]:8444"}
`,
	JSON.stringify([{ id: "one", name: "eu-1", address: "xpdb.example.com:443" }]),
];

/** Some contain IDs of the fleets above, because an ID in both lists is invalid. */
export const forgottenLists: readonly string[] = [
	"- id: three\n  name: eu-1\n- {id: four}\n",
	JSON.stringify([{ id: "two", name: "us-1" }]),
	"[]",
];

export const agentArguments: readonly string[] = [
	"--listen-address=127.0.0.1:8443",
	"--peer-listen-address=[::1]:8444",
	"--http-listen-address=0.0.0.0:0",
	"--tls-cert-file=tls.crt",
	"--tls-private-key-file=tls.key",
	"--client-ca-file=ca.crt",
	"--pod-name=xpdb-agent-0",
	"--pod-namespace=xpdb-system",
	"--pod-ip=10.0.0.7",
	"--kubeconfig=kubeconfig",
];

export const pluginWords: readonly string[] = [
	"drain",
	"evict",
	"cordon",
	"uncordon",
	"budgets",
	"version",
	"help",
	"options",
	"n0",
	"eu/n0",
	"pod/db-0",
	"sts/db",
	"--help",
	"-h",
	"--contexts",
	"--contexts=a,b",
	"--contexts=,",
	"--context=eu",
	"-n",
	"-nshop",
	"--namespace=",
	"-l",
	"app=db",
	"-l=app in (a,b)",
	"--selector=!x",
	"--pod-selector=a=b,c",
	"--pod-selector",
	"-A",
	"--all-namespaces",
	"--timeout",
	"--timeout=5s",
	"--timeout=-1m",
	"--timeout=1h30m0.5s",
	"--timeout=9999999h",
	"--grace-period=-1",
	"--grace-period=99999999999999999999",
	"--max-nodes=0",
	"--max-nodes=2",
	"--chunk-size=-5",
	"--dry-run",
	"--dry-run=server",
	"--dry-run=x",
	"--grace-period=0o",
	"--grace-period=0x1f",
	"--grace-period=1_0",
	"--max-nodes=9007199254740993",
	"--grace-period=1__0",
	"--force",
	"--force=false",
	"--force=maybe",
	"--ignore-daemonsets",
	"--delete-emptydir-data",
	"-y",
	"--yes=0",
	"--wait=false",
	"--for=replaced",
	"--for=x",
	"-o",
	"-owide",
	"--output=json",
	"--no-headers",
	"--client",
	"-v=9",
	"-v",
	"9",
	"--request-timeout=5",
	"--request-timeout=1000000h",
	"--request-timeout=x",
	"--as=bob",
	"--as-group=a",
	"--as-user-extra=a=b",
	"--token=abc",
	"--skip-wait-for-delete-timeout=3",
	"--disable-eviction",
	"--no-force",
	"--Force",
	"---",
	"--",
	"-",
	"-x",
	"-hy",
	"--ignore-daemonset",
	"--__proto__=1",
	"--constructor",
	"--to.string=1",
	"--force.a=1",
	"--=",
	"--=x",
	"-=",
	"",
	" ",
];

export const durations: readonly string[] = [
	"1h30m0.5s",
	"0",
	"-5s",
	"+1.5h",
	"300ms",
	"2us",
	"3µs",
	"1ns",
	"9223372036s",
	".5s",
	"1.s",
];
export const selectorTexts: readonly string[] = [
	"app=db",
	"app==db,tier!=web",
	"a in (x, y),!b,c",
	"example.com/k notin (a,,b)",
	"n>5",
	" a = b , c ",
	"",
];
