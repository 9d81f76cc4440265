// What -v tells of a call to an agent, in the form of a request to an API server: "RPC" for its verb, the method for its URL, and the cluster
// that it is for, which may be another than the one it goes through.
import { isRecord } from "../../disruption/record.ts";
import type { CallObserver } from "../../proto/observe-calls.ts";
import type { LogField, VerboseLog } from "../terminal/verbose-log.ts";

/** `context`: through whose tunnel the calls go. */
export function createCallLog(log: VerboseLog, context: string): CallObserver {
	/** By id, as agents say it; until then, calls for a cluster show its id. */
	const names = new Map<string, string>();
	return {
		begin(path) {
			const began = performance.now();
			let cluster = "";
			const call = (): readonly LogField[] => [
				["verb", "RPC"],
				["call", path],
				["cluster", names.get(cluster) ?? cluster],
				["context", context],
			];
			let headersText = "";
			return {
				headers(headers) {
					headersText = Object.entries(headers)
						.map(([name, value]) => `${name}: ${String(value)}\n`)
						.join("");
				},
				sent(message) {
					cluster = textOf(message, "clusterId");
					// Its ids and its nonce are known from now on, whether this level shows them or not.
					log.secrets.masked(message);
					tellBody("Request Body", message);
					if (log.level >= 7) log.tell("Request", [...call(), ["headers", headersText]]);
				},
				received(message) {
					learnNames(message);
					cluster ||= textOf(message, "clusterId");
					tellBody("Response Body", message);
				},
				ended(code, details) {
					log.tell("Response", [
						...call(),
						["status", code],
						...(details === "" || code === "OK" ? [] : ([["err", details]] satisfies LogField[])),
						["milliseconds", Math.floor(performance.now() - began)],
					]);
				},
			};
		},
	};

	function tellBody(title: string, message: unknown): void {
		const field = log.body(message);
		if (field) log.tell(title, [field]);
	}

	/** A description has its own cluster's and those of its members. */
	function learnNames(message: unknown): void {
		if (!isRecord(message)) return;
		const own = { id: message["clusterId"], name: message["clusterName"] };
		const members: readonly unknown[] = Array.isArray(message["members"]) ? message["members"] : [];
		for (const each of [...members, own]) {
			const id = textOf(each, "id");
			const name = textOf(each, "name");
			if (id !== "" && name !== "") names.set(id, name);
		}
	}
}

function textOf(message: unknown, field: string): string {
	const value = isRecord(message) ? message[field] : undefined;
	return typeof value === "string" ? value : "";
}
