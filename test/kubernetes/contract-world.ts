// The tools of the contract's cases: a namespace that they share, HTTPS calls under several identities, and watches.
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { ApiObject, JsonObject } from "../../demo/apiserver/api-object.ts";
import type { Status } from "../../demo/apiserver/status-error.ts";
import type { ContractTarget } from "./contract-target.ts";

/** A client certificate, no credentials ("nobody"), or a token. */
export type Identity = "admin" | "operator" | "nobody" | { readonly token: string };

export interface Call {
	readonly method: string;
	readonly path: string;
	readonly body?: unknown;
	readonly contentType?: string;
	readonly accept?: string;
	readonly as?: Identity;
}

export interface Answer {
	readonly code: number;
	readonly headers: IncomingHttpHeaders;
	/** Parsed if it is JSON. */
	readonly body: unknown;
}

export interface WatchEvent {
	readonly type: string;
	readonly object: ApiObject & Partial<Status>;
}

export interface OpenWatch extends AsyncDisposable {
	/** Returns the next events. Rejects if the watch ends first. */
	next(count: number): Promise<readonly WatchEvent[]>;
	/** Returns all events until the server ends the watch. */
	rest(): Promise<readonly WatchEvent[]>;
}

const waitMs = 10_000;
const podsReadyCondition = { type: "Ready", status: "True" };

export class ContractWorld {
	readonly target: ContractTarget;
	readonly namespace: string;
	/** Open connections by identity, because a handshake takes longer than most answers. */
	readonly #agents = new Map<Identity, Agent>();

	constructor(target: ContractTarget) {
		this.target = target;
		this.namespace = `contract-${randomBytes(4).toString("hex")}`;
	}

	/** Creates the namespace, and waits until it accepts pods. */
	async open(): Promise<void> {
		await this.createNamespace(this.namespace);
	}

	async createNamespace(name: string): Promise<void> {
		await this.create("/api/v1/namespaces", { metadata: { name } });
		const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
		await this.until("a service account", async () => (await this.call({ method: "GET", path: account })).code === 200);
	}

	/** Returns for example "/api/v1/namespaces/NAMESPACE/pods/a" for "pods" and "a". */
	path(plural: string, name = "", group = ""): string {
		const prefix = group === "" ? "/api/v1" : `/apis/${group}`;
		return `${prefix}/namespaces/${this.namespace}/${plural}${name === "" ? "" : `/${name}`}`;
	}

	call(call: Call): Promise<Answer> {
		return new Promise((resolve, reject) => {
			this.#open(call, AbortSignal.timeout(waitMs), (response) => {
				textOf(response).then(
					(text) => resolve({ code: response.statusCode ?? 0, headers: response.headers, body: parse(text) }),
					reject,
				);
			}).on("error", reject);
		});
	}

	get(path: string): Promise<Answer> {
		return this.call({ method: "GET", path });
	}

	/** Returns the object. Rejects if the call fails. */
	async sent(call: Call): Promise<ApiObject> {
		const answer = await this.call(call);
		if (answer.code >= 300)
			throw new Error(`${call.method} ${call.path}: ${answer.code} ${JSON.stringify(answer.body)}`);
		return answer.body as ApiObject;
	}

	create(path: string, body: JsonObject): Promise<ApiObject> {
		return this.sent({ method: "POST", path, body });
	}

	read(path: string): Promise<ApiObject> {
		return this.sent({ method: "GET", path });
	}

	patch(path: string, body: unknown, contentType = "application/strategic-merge-patch+json"): Promise<Answer> {
		return this.call({ method: "PATCH", path, body, contentType });
	}

	/** Creates a pod that only the test changes: its scheduler does not exist, and neither does its node. */
	async createPod(pod: PodOptions): Promise<ApiObject> {
		const { name, labels = {}, annotations = {}, finalizers, namespace = this.namespace } = pod;
		const isRunning = pod.phase !== undefined;
		const created = await this.create(`/api/v1/namespaces/${namespace}/pods`, {
			metadata: { name, labels, annotations, ...(finalizers && { finalizers }) },
			spec: {
				schedulerName: "nobody",
				...(isRunning && { nodeName: "nowhere" }),
				...(pod.graceSeconds !== undefined && { terminationGracePeriodSeconds: pod.graceSeconds }),
				containers: [{ name: "main", image: "none" }],
			},
		});
		if (!isRunning) return created;
		const conditions = [{ ...podsReadyCondition, status: pod.isReady === false ? "False" : "True" }];
		const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
		const body = { status: { phase: pod.phase, conditions } };
		return this.sent({ method: "PATCH", path: `${path}/status`, body, contentType: "application/merge-patch+json" });
	}

	evict(name: string, deleteOptions?: JsonObject, query = ""): Promise<Answer> {
		return this.call({
			method: "POST",
			path: `${this.path("pods", name)}/eviction${query}`,
			body: {
				apiVersion: "policy/v1",
				kind: "Eviction",
				metadata: { name, namespace: this.namespace },
				...(deleteOptions && { deleteOptions }),
			},
		});
	}

	async findPod(name: string): Promise<ApiObject | undefined> {
		const answer = await this.get(this.path("pods", name));
		return answer.code === 404 ? undefined : (answer.body as ApiObject);
	}

	/** Creates a PodDisruptionBudget over the pods with label app=NAME. Resolves when its controller has seen the budget and the pods. */
	async createBudget(name: string, spec: JsonObject, until: (status: JsonObject) => boolean): Promise<void> {
		await this.create(this.path("poddisruptionbudgets", "", "policy/v1"), {
			metadata: { name },
			spec: { selector: { matchLabels: { app: name } }, ...spec },
		});
		const path = this.path("poddisruptionbudgets", name, "policy/v1");
		await this.until(`budget ${name}`, async () => {
			const { status = {} } = await this.read(path);
			return status["observedGeneration"] === 1 && until(status);
		});
	}

	async until(what: string, holds: () => Promise<boolean>): Promise<void> {
		const end = performance.now() + waitMs;
		while (!(await holds())) {
			if (performance.now() > end) throw new Error(`${what} did not come about within ${waitMs / 1_000} s`);
			await delay(20);
		}
	}

	watch(path: string): OpenWatch {
		const abort = new AbortController();
		const events: WatchEvent[] = [];
		let wake = (): void => undefined;
		const over: { why?: unknown } = {};
		const outgoing = this.#open({ method: "GET", path }, abort.signal, (response) => {
			const lines = createInterface({ input: response });
			lines.on("line", (line) => {
				events.push(JSON.parse(line) as WatchEvent);
				wake();
			});
			lines.on("close", () => {
				over.why ??= "the server ended the watch";
				wake();
			});
			lines.on("error", () => undefined);
		});
		outgoing.on("error", (error) => {
			over.why ??= error;
			wake();
		});
		const changed = () => new Promise<void>((resolve) => (wake = resolve));
		return {
			async next(count) {
				const timer = setTimeout(() => abort.abort(new Error(`only ${events.length} of ${count} events came`)), waitMs);
				while (events.length < count && over.why === undefined) await changed();
				clearTimeout(timer);
				if (events.length < count) throw new Error(`The watch ended: ${String(over.why)}`);
				return events.splice(0, count);
			},
			async rest() {
				while (over.why === undefined) await changed();
				return events.splice(0);
			},
			[Symbol.asyncDispose]: async () => {
				over.why ??= "closed";
				abort.abort();
			},
		};
	}

	#open(call: Call, signal: AbortSignal, onResponse: (response: IncomingMessage) => void) {
		const { method, path, body, contentType = "application/json", accept = "application/json", as = "admin" } = call;
		const text = body === undefined ? "" : JSON.stringify(body);
		const outgoing = request(
			new URL(path, this.target.server),
			{
				method,
				signal,
				agent: this.#agentFor(as),
				headers: {
					accept,
					...(text !== "" && { "content-type": contentType, "content-length": Buffer.byteLength(text) }),
					...(typeof as === "object" && { authorization: `Bearer ${as.token}` }),
				},
			},
			onResponse,
		);
		outgoing.end(text);
		return outgoing;
	}

	#agentFor(identity: Identity): Agent {
		const pair = identity === "admin" || identity === "operator" ? this.target[identity] : undefined;
		const key = pair ? identity : "nobody";
		const known = this.#agents.get(key);
		if (known) return known;
		const credentials = pair ? { cert: pair.certificate, key: pair.key } : {};
		const agent = new Agent({ keepAlive: true, ca: this.target.authority, ...credentials });
		this.#agents.set(key, agent);
		return agent;
	}

	async close(): Promise<void> {
		const path = this.path("pods");
		const { body } = await this.get(path);
		for (const { metadata } of (body as { items: ApiObject[] }).items) {
			if (metadata.finalizers) {
				await this.patch(
					`${path}/${metadata.name}`,
					{ metadata: { finalizers: null } },
					"application/merge-patch+json",
				);
			}
			await this.call({ method: "DELETE", path: `${path}/${metadata.name}`, body: { gracePeriodSeconds: 0 } });
		}
		await this.call({ method: "DELETE", path: `/api/v1/namespaces/${this.namespace}` });
		for (const agent of this.#agents.values()) agent.destroy();
		await this.target.close();
	}
}

export interface PodOptions {
	readonly name: string;
	readonly namespace?: string;
	readonly labels?: Readonly<Record<string, string>>;
	readonly annotations?: Readonly<Record<string, string>>;
	readonly finalizers?: readonly string[];
	/** By default, Pending without a node. Otherwise, the pod is bound to a node that does not exist. */
	readonly phase?: "Running" | "Succeeded";
	readonly isReady?: boolean;
	readonly graceSeconds?: number;
}

async function textOf(response: IncomingMessage): Promise<string> {
	response.setEncoding("utf8");
	let text = "";
	for await (const chunk of response) text += String(chunk);
	return text;
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
