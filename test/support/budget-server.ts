// An API server with one budget: merge patches, versions and dry runs as in Kubernetes, and faults that the test chooses.
import { isRecord } from "../../disruption/record.ts";
import { ApiError } from "../../plugin/kubernetes/api-error.ts";
import type { KubeContext } from "../../plugin/kubernetes/kube-context.ts";
import { newClient, newContext, notFound } from "./build-context.ts";

type Call = "get" | "rehearse" | "write" | "tell";

export class BudgetServer {
	readonly context: KubeContext;
	readonly events: unknown[] = [];
	readonly calls: Call[] = [];
	/** Called before each call. If it throws, the call fails with that error. */
	onCall: (call: Call) => void = () => undefined;
	/** Called after a write, before its answer. */
	onWritten: () => void = () => undefined;
	/** Whether the definition lacks `spec.suspend`, so that the server drops the field. */
	dropsSuspend = false;
	#object: Readonly<Record<string, unknown>> | undefined;
	#version = 100;

	constructor(name: string, spec: Readonly<Record<string, unknown>> | undefined, annotations: object = {}) {
		if (spec) this.#store({ spec, metadata: { name: "db", namespace: "shop", uid: `uid-${name}`, annotations } });
		const client = newClient({
			get: () => {
				this.#ask("get");
				if (!this.#object) throw notFound('xpoddisruptionbudgets.x-pdb.form3.tech "db" not found');
				return this.#object;
			},
			mergePatch: (path, patch) => this.#patch(path, patch),
			post: (path, event) => {
				this.#ask("tell");
				if (!path.endsWith("?dryRun=All")) this.events.push(event);
				return {};
			},
		});
		this.context = newContext(name, client);
	}

	get suspend(): unknown {
		return recordIn(this.#object, "spec")["suspend"];
	}

	get annotations(): Readonly<Record<string, unknown>> {
		return recordIn(recordIn(this.#object, "metadata"), "annotations");
	}

	edit(patch: Readonly<Record<string, unknown>>): void {
		const edited = merged(this.#object, patch);
		this.#store(isRecord(edited) ? edited : {});
	}

	#patch(path: string, patch: unknown): unknown {
		const isRehearsal = path.includes("&dryRun=All");
		this.#ask(isRehearsal ? "rehearse" : "write");
		const metadata = recordIn(this.#object, "metadata");
		if (recordIn(patch, "metadata")["resourceVersion"] !== metadata["resourceVersion"]) {
			throw new ApiError("the object has been modified", { code: 409, reason: "Conflict" });
		}
		const patched = merged(this.#object, patch);
		if (!isRecord(patched)) throw new Error("there is nothing to patch");
		const { suspend: _, ...rest } = recordIn(patched, "spec");
		const stored = this.dropsSuspend ? { ...patched, spec: rest } : patched;
		if (isRehearsal) return stored;
		this.#store(stored);
		this.onWritten();
		return this.#object;
	}

	#ask(call: Call): void {
		this.calls.push(call);
		this.onCall(call);
	}

	#store(object: Readonly<Record<string, unknown>>): void {
		this.#version += 1;
		this.#object = { ...object, metadata: { ...recordIn(object, "metadata"), resourceVersion: String(this.#version) } };
	}
}

/** Merges as in RFC 7396. */
function merged(target: unknown, patch: unknown): unknown {
	if (!isRecord(patch)) return patch;
	const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
	for (const [key, value] of Object.entries(patch)) {
		if (value === null) delete result[key];
		else result[key] = merged(result[key], value);
	}
	return result;
}

function recordIn(value: unknown, key: string): Readonly<Record<string, unknown>> {
	const inside = isRecord(value) ? value[key] : undefined;
	return isRecord(inside) ? inside : {};
}
