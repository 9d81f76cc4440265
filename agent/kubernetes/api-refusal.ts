// Turns a refusal by the API server into an error whose message says what was refused and why.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { isRecord } from "../../disruption/record.ts";
import type { ApiAnswer } from "./api-connection.ts";

/** What was requested, in the words of RBAC, so that a missing right can be named. */
export interface ApiQuestion {
	/** After "cannot": 'read Lease "a"'. */
	readonly what: string;
	readonly verb: string;
	/** As in a Role: "leases", "pods/status". */
	readonly resource: string;
	readonly group: string;
	readonly namespace?: string;
}

export class MissingRightError extends AgentUnavailableError {}

export function refusal(answer: ApiAnswer, question: ApiQuestion, cluster: string): AgentUnavailableError {
	const { verb, resource, group, namespace } = question;
	const target = `${group === "" ? resource : `${resource}.${group}`}${namespace === undefined ? "" : ` in namespace "${namespace}"`}`;
	const said = saidText(answer);
	const why = (): string => {
		switch (answer.status) {
			case 401:
				return `its API server does not accept the agent's token or certificate (${said})`;
			case 403:
				return `the agent has no permission to ${verb} ${target}: grant it to its ServiceAccount with a Role or ClusterRole (${said})`;
			case 404:
				return `its API server does not serve ${target}, or the namespace does not exist (${said})`;
			case 429:
				return `its API server answers 429, retry later (${said})`;
			default:
				return `its API server refuses to ${verb} ${target} (${said})`;
		}
	};
	// After 429 and 5xx, the API server is the cause although it answered.
	const silent = answer.status === 429 || answer.status >= 500 ? "apiServer" : undefined;
	const message = `cannot ${question.what} in cluster "${cluster}": ${why()}`;
	if (answer.status === 403) return new MissingRightError(message, cluster);
	return new AgentUnavailableError(message, cluster, { silent });
}

/** Returns the status and the message, for example "503: service unavailable". */
export function saidText(answer: ApiAnswer): string {
	const message = statusMessage(answer);
	return message === "" ? String(answer.status) : `${answer.status}: ${message}`;
}

/** Returns the message of a metav1.Status or the start of a plain text body; "" if there is neither. */
export function statusMessage(answer: ApiAnswer): string {
	const message = isRecord(answer.body) ? answer.body["message"] : answer.body;
	return typeof message === "string" ? message.trim().slice(0, 500) : "";
}

/** Whether a 404 means that this object is missing, and not its namespace or resource type. */
export function isMissingObject(answer: ApiAnswer, name: string): boolean {
	if (answer.status !== 404 || !isRecord(answer.body)) return false;
	const details = answer.body["details"];
	return isRecord(details) && details["name"] === name && details["kind"] !== "namespaces";
}
