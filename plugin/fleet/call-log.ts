// Logs calls to agents for -v like requests to an API server: verb "RPC", the method in place of the URL, and the target cluster. The
// target may differ from the cluster whose tunnel carries the call.
import { isRecord } from "../../disruption/record.ts";
import type { CallObserver } from "../../proto/observe-calls.ts";
import type { LogField, VerboseLog } from "../terminal/verbose-log.ts";

/** `context`: the context whose tunnel carries the calls. */
export function createCallLog(log: VerboseLog, context: string): CallObserver {
	/** Cluster names by id, learned from agents' answers. Until a name is known, the log shows the id. */
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
					// Registers the ids and the nonce as secrets, even if this log level does not print them.
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
