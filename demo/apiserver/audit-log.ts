// Logs writes to pods and Leases in the format of a real cluster's audit log, which demo/audit/ reads.
import { createWriteStream } from "node:fs";
import { isRecord } from "../../disruption/record.ts";
import type { ApiAnswer, ApiRequest } from "./api-request.ts";

export interface AuditLog {
	/** `startedAt` is the value of now() when the request came. */
	record(request: ApiRequest, answer: ApiAnswer, startedAt: string): void;
	close(): Promise<void>;
}

const writes = ["create", "update", "patch", "delete", "deletecollection"];
const logged = ["pods", "pods/status", "pods/eviction", "leases"];

/** Returns the time with microseconds, because two evictions can fall into one millisecond. */
export function now(): string {
	const milliseconds = performance.timeOrigin + performance.now();
	const [seconds = ""] = new Date(milliseconds).toISOString().split(".");
	return `${seconds}.${String(Math.floor((milliseconds % 1_000) * 1_000)).padStart(6, "0")}Z`;
}

export function openAuditLog(path: string): AuditLog {
	const stream = createWriteStream(path, { flags: "a", mode: 0o600 });
	return {
		record(request, answer, startedAt) {
			const { type, verb, subresource, namespace, name, user } = request;
			const resource = subresource === "" ? type.plural : `${type.plural}/${subresource}`;
			if (!writes.includes(verb) || !logged.includes(resource)) return;
			const line = {
				kind: "Event",
				apiVersion: "audit.k8s.io/v1",
				level: "RequestResponse",
				stage: "ResponseComplete",
				verb,
				requestURI: `/${resource}?${request.query.toString()}`,
				user: { username: user.name, groups: user.groups },
				objectRef: {
					resource: type.plural,
					...(namespace !== "" && { namespace }),
					...(name !== "" && { name }),
					...(subresource !== "" && { subresource }),
				},
				responseStatus: { code: answer.code },
				...(isRecord(request.body) && { requestObject: request.body }),
				responseObject: answer.body,
				requestReceivedTimestamp: startedAt,
				stageTimestamp: now(),
			};
			stream.write(`${JSON.stringify(line)}\n`);
		},
		close: () => new Promise((resolve) => stream.end(resolve)),
	};
}
