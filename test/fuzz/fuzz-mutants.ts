// The mutants of the fuzz targets: the shipped code without one validation, which the target must notice. Each target has one, and some
// have several.
import type { Mutant } from "../explore/mutant.ts";

export interface FuzzMutant extends Mutant {
	readonly target: string;
}

interface Row {
	readonly target: string;
	readonly without: string;
	readonly file: string;
	readonly find: string;
	readonly replace: string;
}

const rows: readonly Row[] = [
	{
		target: "budget",
		without: "percentages end at 100",
		file: "disruption/budget/budget.ts",
		find: "if (!percent || Number(percent[1]) > 100) {",
		replace: "if (!percent) {",
	},
	{
		target: "lease",
		without: "a reservation has a version that can be ordered",
		file: "disruption/lease/lease-text.ts",
		find: "				!isResourceVersion(resourceVersion) ||\n",
		replace: "",
	},
	{
		target: "lease",
		without: "what a watch could not read is no Lease",
		file: "disruption/lease/lease.ts",
		find: "if (lease.unreadable !== undefined) throw garbled(lease.unreadable);",
		replace: "",
	},
	{
		target: "resource-version",
		without: "versions have no leading zeros",
		file: "disruption/resource-version.ts",
		find: "/^(0|[1-9][0-9]*)$/",
		replace: "/^[0-9]+$/",
	},
	{
		target: "pod",
		without: "a time of deletion is a text",
		file: "disruption/budget/pod.ts",
		find: 'if (typeof value !== "string" || value === "") throw garbled(`its ${path} is ${quote(value)}`);\n	return value;',
		replace: "return String(value);",
	},
	{
		target: "object",
		without: "objects have a version that can be ordered",
		file: "agent/kubernetes/kubernetes-objects.ts",
		find: 'if (typeof resourceVersion !== "string" || !isResourceVersion(resourceVersion)) {\n		throw new TypeError(`cannot read object',
		replace: 'if (typeof resourceVersion !== "string") {\n		throw new TypeError(`cannot read object',
	},
	{
		target: "scale",
		without: "replicas are not negative",
		file: "agent/cluster-api/workload-scale.ts",
		find: " || value < 0",
		replace: "",
	},
	{
		target: "workload",
		without: "a label of a template is a text",
		file: "agent/cluster-api/workload-record.ts",
		find: 'if (typeof value !== "string") throw unreadable(`label ${quote(key)} of its template is ${quote(value)}`);',
		replace: "",
	},
	{
		target: "api-refusal",
		without: "only a 404 says that an object is gone",
		file: "agent/kubernetes/api-refusal.ts",
		find: "if (answer.status !== 404 || !isRecord(answer.body)) return false;",
		replace: "if (!isRecord(answer.body)) return false;",
	},
	{
		target: "round",
		without: "a list has items",
		file: "agent/kubernetes/kubernetes-objects.ts",
		find: 'isRecord(body) ? body["items"] : undefined',
		replace: 'isRecord(body) ? (body["items"] ?? []) : undefined',
	},
	{
		target: "round",
		without: "a controller says how many pods it wants",
		file: "agent/cluster-api/workload-scale.ts",
		find: "const replicas = replicasOf(object);",
		replace: "const replicas = replicasOf(object) ?? 1;",
	},
	{
		target: "grpc-answer",
		without: "an answer is of the cluster that was asked",
		file: "proto/remote-cluster.ts",
		find: "if (clusterId === this.id) return;",
		replace: "return;",
	},
	{
		target: "budget-watch",
		without: "what a look saw is a whole number",
		file: "proto/wire-watch.ts",
		find: "(pods === -1 ? undefined : wholeNumber(pods, looks))",
		replace: "(pods === -1 ? undefined : pods)",
	},
	{
		target: "budget-watch",
		without: "it is told by the cluster that was asked",
		file: "proto/read-watch.ts",
		find: "if (from === id) continue;",
		replace: "continue;",
	},
	{
		target: "count",
		without: "expected pods are a whole number",
		file: "proto/wire-count.ts",
		find: "wholeNumber(expected.value, `${field}.pods`)",
		replace: "expected.value",
	},
	{
		target: "status",
		without: "a bug is told to nobody",
		file: "proto/status.ts",
		find: 'details: "Internal error, see the agent\'s log"',
		replace: "details: String(error)",
	},
	{
		target: "grpc-request",
		without: "the id of a reservation is one",
		file: "agent/server/request-limits.ts",
		find: 'assertId(id, "grants.id");',
		replace: "",
	},
	{
		target: "grpc-frame",
		without: "what a request needs is there",
		file: "proto/fields.ts",
		find: "if (value === undefined) throw missing(field);",
		replace: "",
	},
	{
		target: "http-request",
		without: "a path is printable",
		file: "agent/process/http-request.ts",
		find: "(\\/[\\x21-\\x7e]*)",
		replace: "(\\/[^ ]*)",
	},
	{
		target: "lines",
		without: "half a line is none",
		file: "proto/line-splitter.ts",
		find: "return this.#pendingBytes > 0;",
		replace: "return false;",
	},
	{
		target: "watch-line",
		without: "events have a version that can be ordered",
		file: "agent/kubernetes/watch-line.ts",
		find: " || !isResourceVersion(resourceVersion)",
		replace: "",
	},
	{
		target: "watch-frames",
		without: "a field has the wire type that it is read with",
		file: "agent/kubernetes/read-protobuf.ts",
		find: "if (wireType !== wanted) throw",
		replace: "if (wireType === undefined) throw",
	},
	{
		target: "watch-frames",
		without: "a frame is given once it is whole",
		file: "agent/kubernetes/frame-splitter.ts",
		find: "this.#pendingBytes < headerBytes + length",
		replace: "this.#pendingBytes < length",
	},
	{
		target: "watch",
		without: "versions that go back void everything",
		file: "agent/kubernetes/watch.ts",
		find: "if (compareResourceVersions(resourceVersion, this.#version) < 0) {",
		replace: "if (resourceVersion === undefined) {",
	},
	{
		target: "kubeconfig",
		without: "a server is a URL",
		file: "plugin/kubernetes/connection.ts",
		find: " || !/^https?:$/.test(url.protocol)",
		replace: "",
	},
	{
		target: "agent-kubeconfig",
		without: "a server is a URL",
		file: "agent/kubernetes/api-access.ts",
		find: " || !URL.canParse(server)",
		replace: "",
	},
	{
		target: "fleet",
		without: "ports end at 65,535",
		file: "disruption/budget/declared-fleet.ts",
		find: " || Number(port) > 65_535",
		replace: "",
	},
	{
		target: "known-members",
		without: "an id is known once",
		file: "agent/cluster-api/known-members-lease.ts",
		find: "if (seen.has(member.id)) throw",
		replace: "if (false) throw",
	},
	{
		target: "agent-config",
		without: "ports end at 65,535",
		file: "agent/process/config.ts",
		find: " || port > 65_535",
		replace: "",
	},
	{
		target: "argv",
		without: "a number is one",
		file: "plugin/flags/flag-value.ts",
		find: 'if (typeof number === "number") return number;',
		replace: "return number;",
	},
	{
		target: "command",
		without: "errors do not steer the terminal",
		file: "plugin/terminal/guarded-streams.ts",
		find: "const harmless = printable(text);",
		replace: "const harmless = text;",
	},
	{
		target: "api-error",
		without: "nothing is hidden in what an API server says",
		file: "disruption/printable.ts",
		find: "\\p{Cf}\\p{Default_Ignorable_Code_Point}",
		replace: "",
	},
	{
		target: "kubeconfig",
		without: "messages have an end",
		file: "disruption/bounded-error.ts",
		find: "shortenTo(text, longestMessage)",
		replace: "text",
	},
	{
		target: "duration",
		without: "durations end where Go's do",
		file: "plugin/flags/duration.ts",
		find: " || total > longestDurationMs",
		replace: "",
	},
	{
		target: "label-selector",
		without: "every part of a selector is one",
		file: "plugin/flags/label-selector-text.ts",
		find: ".every((part)",
		replace: ".some((part)",
	},
	{
		target: "api-error",
		without: "nobody waits for a day",
		file: "plugin/kubernetes/api-error.ts",
		find: "Math.min(Number(retryAfter), longestRetrySeconds)",
		replace: "Number(retryAfter)",
	},
	{
		target: "api-answer",
		without: "a Failure is no success, whatever its code",
		file: "plugin/evictions/send-eviction.ts",
		find: 'if (status !== "Failure") return { kind: "accepted" };',
		replace: 'return { kind: "accepted" };',
	},
	{
		target: "token",
		without: "the API server knows the token",
		file: "agent/server/reviews.ts",
		find: 'if (status["authenticated"] !== true) {',
		replace: 'if (status["authenticated"] === undefined) {',
	},
	{
		target: "member",
		without: "a certificate of two members names neither",
		file: "proto/member-certificate.ts",
		find: "if (uri === undefined || more.length > 0) return undefined;",
		replace: "if (uri === undefined || more.length > 9) return undefined;",
	},
	{
		target: "token",
		without: "tokens live an hour at most",
		file: "agent/server/token-lifetime.ts",
		find: "if (seconds <= longestSeconds) return undefined;",
		replace: "if (seconds <= longestSeconds * longestSeconds) return undefined;",
	},
	{
		target: "token",
		without: "what has no end lives too long",
		file: "agent/server/token-lifetime.ts",
		find: 'if (exp === undefined) return "it never ends";',
		replace: "if (exp === undefined) return undefined;",
	},
	{
		target: "agent-namespaces",
		without: "a namespace is one",
		file: "disruption/agent-namespaces.ts",
		find: " || !namespaceName.test(entry)",
		replace: "",
	},
	{
		target: "certificate",
		without: "what is no certificate is said in our words",
		file: "proto/credentials.ts",
		find: "throw new AgentProtocolError(`cannot read ${what}: it is not a certificate in PEM`, { cause: error });",
		replace: "throw error;",
	},
];

export const fuzzMutants: readonly FuzzMutant[] = rows.map(({ target, without, file, find, replace }) => ({
	name: `${target}: ${without}`,
	target,
	without,
	scenarios: [],
	edits: [{ file, find, replace }],
}));

export function findFuzzMutant(name: string): FuzzMutant {
	const found = fuzzMutants.find((mutant) => mutant.name === name);
	if (found) return found;
	throw new Error(`There is no mutant "${name}": there are ${fuzzMutants.map((each) => each.name).join(", ")}`);
}
