// Follows the audit log of a cluster as it grows. The log of an hour is too large to read it whole each minute, or to keep it in memory.
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { type AuditEvent, type AuditObject, findAuditEvent } from "../../demo/audit/audit.ts";

const chunkBytes = 1 << 20;

export class AuditTail {
	readonly #cluster: string;
	readonly #path: string;
	readonly #wanted: (event: AuditEvent) => boolean;
	#file: number | undefined;
	#rest: Buffer = Buffer.alloc(0);

	constructor(options: {
		readonly cluster: string;
		readonly path: string;
		readonly wanted: (event: AuditEvent) => boolean;
	}) {
		this.#cluster = options.cluster;
		this.#path = options.path;
		this.#wanted = options.wanted;
	}

	/** Returns the wanted events since the last call, reduced to what the judge needs. */
	read(): readonly AuditEvent[] {
		const events: AuditEvent[] = [];
		for (;;) {
			this.#file ??= existsSync(this.#path) ? openSync(this.#path, "r") : undefined;
			if (this.#file === undefined) return events;
			this.#readOn(this.#file, events);
			if (!this.#wasRotated(this.#file)) return events;
			closeSync(this.#file);
			this.#file = undefined;
		}
	}

	close(): void {
		if (this.#file !== undefined) closeSync(this.#file);
	}

	#readOn(file: number, events: AuditEvent[]): void {
		const chunk = Buffer.alloc(chunkBytes);
		for (let length = readSync(file, chunk); length > 0; length = readSync(file, chunk)) {
			const bytes = Buffer.concat([this.#rest, chunk.subarray(0, length)]);
			const end = bytes.lastIndexOf("\n") + 1;
			this.#rest = bytes.subarray(end);
			for (const line of bytes.toString("utf8", 0, end).split("\n")) {
				const event = isWhole(line) ? findAuditEvent(line, this.#cluster) : undefined;
				if (event && this.#wanted(event)) events.push(withoutBallast(event));
			}
		}
	}

	/** The API server renames a full log and begins a new one. */
	#wasRotated(file: number): boolean {
		return existsSync(this.#path) && statSync(this.#path).ino !== fstatSync(file).ino;
	}
}

/** A killed API server may leave an incomplete line, and its successor continues in that line. */
function isWhole(line: string): boolean {
	try {
		JSON.parse(line);
		return true;
	} catch (error) {
		if (error instanceof SyntaxError) return false;
		throw error;
	}
}

function withoutBallast(event: AuditEvent): AuditEvent {
	return { ...event, request: reduced(event.request), response: reduced(event.response) };
}

function reduced(object: AuditObject | undefined): AuditObject | undefined {
	if (!object) return undefined;
	const { kind, metadata, status, items, deleteOptions, dryRun } = object;
	const { name, namespace, uid, resourceVersion, labels, deletionTimestamp } = metadata ?? {};
	const conditions = status?.conditions?.filter(({ type }) => type === "Ready");
	return {
		...(kind !== undefined && { kind }),
		metadata: {
			...(name !== undefined && { name }),
			...(namespace !== undefined && { namespace }),
			...(uid !== undefined && { uid }),
			...(resourceVersion !== undefined && { resourceVersion }),
			...(labels && { labels }),
			...(deletionTimestamp !== undefined && { deletionTimestamp }),
		},
		status: { ...(status?.phase !== undefined && { phase: status.phase }), ...(conditions && { conditions }) },
		...(items && { items: items.map((item) => reduced(item) ?? item) }),
		...(deleteOptions && { deleteOptions }),
		...(dryRun && { dryRun }),
	};
}
