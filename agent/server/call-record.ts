// Collects the facts about one call while it is served. The call is measured and audited once, however it ends.
import { type StatusObject, status } from "@grpc/grpc-js";
import type { BudgetName } from "../../disruption/budget/budget.ts";
import { statusOfError } from "../../proto/status.ts";
import type { Caller } from "../peers/caller.ts";
import type { AuditDetails, AuditLog, AuditRecord } from "./audit-log.ts";
import type { CallWatcher } from "./call-watcher.ts";

interface CallRecordOptions {
	readonly method: string;
	readonly port: "token" | "peer";
	/** The id of the member that the call names; "" if it names none. Left out if the message was not read. */
	readonly cluster?: string;
	readonly watcher: Pick<CallWatcher, "answered" | "failed">;
	readonly audit: AuditLog;
}

export class CallRecord implements AuditRecord {
	readonly method: string;
	readonly port: "token" | "peer";
	readonly cluster?: string;
	caller?: Caller;
	budget?: BudgetName;
	details?: AuditDetails;
	outcome?: string;
	readonly #watcher: CallRecordOptions["watcher"];
	readonly #audit: AuditLog;
	readonly #startedAt = performance.now();
	#isMeasured = false;
	#isOver = false;

	constructor({ method, port, cluster, watcher, audit }: CallRecordOptions) {
		this.method = method;
		this.port = port;
		if (cluster !== undefined) this.cluster = cluster;
		this.#watcher = watcher;
		this.#audit = audit;
	}

	/** Measures the call's duration up to now, instead of up to its end. */
	measure(code: status = status.OK): void {
		if (this.#isMeasured) return;
		this.#isMeasured = true;
		this.#watcher.answered({ name: this.method, port: this.port, startedAt: this.#startedAt, code });
	}

	/** Logs a failure and returns its status, which hides any error that is not a domain error. */
	failed(error: unknown): Partial<StatusObject> {
		this.#watcher.failed(this.method, error);
		return statusOfError(error);
	}

	/** `refusal` is undefined if the call was answered. Returns false if the record has ended before. */
	end(refusal: Partial<StatusObject> | undefined): boolean {
		if (this.#isOver) return false;
		this.#isOver = true;
		this.measure(refusal?.code);
		this.#audit.ended(this, refusal);
		return true;
	}
}
