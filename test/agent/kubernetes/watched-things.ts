import { onTestFinished } from "vitest";
import { type ApiConnection, createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { startWatch, type Watch } from "../../../agent/kubernetes/watch.ts";
import type { WatchEvent } from "../../../agent/kubernetes/watch-sink.ts";
import { ObjectStore } from "../../../agent/views/object-views.ts";
import { type ScriptedRequest, type ScriptedServer, startScriptedServer } from "../../support/scripted-api-server.ts";
import { createSkippingClock, type SkippingClock } from "../../support/skipping-clock.ts";

export interface Thing {
	readonly name: string;
	readonly value: string;
}

export const thing = (name: string, resourceVersion: string, value = "") => ({
	metadata: { name, uid: `uid of ${name}`, resourceVersion },
	value,
});
export const event = (type: WatchEvent<Thing>["type"], name: string, resourceVersion: string, value = "") => ({
	type,
	object: thing(name, resourceVersion, value),
});
export const bookmark = (resourceVersion: string) => ({ type: "BOOKMARK", object: { metadata: { resourceVersion } } });
export const endOfList = (resourceVersion: string) => ({
	type: "BOOKMARK",
	object: { metadata: { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } } },
});
export const list = (resourceVersion: string, ...items: readonly unknown[]) => ({
	metadata: { resourceVersion },
	items,
});
export const status = (code: number, message: string) => ({ kind: "Status", code, message });

function readThing(object: unknown): Thing {
	const { metadata, value } = object as { metadata?: { name?: string }; value?: string };
	if (metadata?.name === undefined || value === undefined) throw new TypeError("it is no thing");
	return { name: metadata.name, value };
}

export class NotingStore extends ObjectStore<Thing> {
	readonly notes: string[] = [];
	override replace(objects: readonly Thing[], resourceVersion: string): void {
		this.notes.push(`list ${resourceVersion}: ${objects.map(({ name }) => name).join(" ")}`.trim());
		super.replace(objects, resourceVersion);
	}
	override apply(change: WatchEvent<Thing>): void {
		this.notes.push(`${change.type} ${change.object.name} ${change.resourceVersion}`);
		super.apply(change);
	}
	override bookmark(resourceVersion: string): void {
		this.notes.push(`bookmark ${resourceVersion}`);
		super.bookmark(resourceVersion);
	}
	override reset(): void {
		this.notes.push("reset");
		super.reset();
	}
	override watchLost(): void {
		this.notes.push("lost");
		super.watchLost();
	}
}

/** Closes `one` after the test, before anything that was opened earlier. */
function closeAfterwards(one: { close(): unknown }): void {
	onTestFinished(async () => {
		await one.close();
	});
}

export type Kind = "streamed list" | "list" | "watch";

function kindOf({ query }: ScriptedRequest): Kind {
	if (query.get("sendInitialEvents") === "true") return "streamed list";
	return query.get("watch") === "true" ? "watch" : "list";
}

export async function setUp(handlers: Partial<Record<Kind, (request: ScriptedRequest, nth: number) => void>>): Promise<{
	readonly server: ScriptedServer;
	readonly store: NotingStore;
	readonly warnings: string[];
	readonly connection: ApiConnection;
	readonly asked: string[];
	readonly clock: SkippingClock;
	readonly watch: Watch;
}> {
	const asked: string[] = [];
	const counts = new Map<Kind, number>();
	const server = await startScriptedServer((request) => {
		const kind = kindOf(request);
		const nth = (counts.get(kind) ?? 0) + 1;
		counts.set(kind, nth);
		const version = request.query.get("resourceVersion");
		asked.push(version === null ? kind : `${kind} from ${version}`);
		const handle = handlers[kind];
		if (handle) handle(request, nth);
		else request.json(500, status(500, `no ${kind} in this script`));
	});
	closeAfterwards(server);
	const clock = createSkippingClock();
	const connection = createApiConnection({ access: server.access, clock, cluster: "eu-1" });
	closeAfterwards(connection);
	const store = new NotingStore({ keyOf: ({ name }) => name, clock });
	const warnings: string[] = [];
	const watch = startWatch({
		connection,
		clock,
		random: () => 0.5,
		resource: { name: "things", path: "/apis/test/v1/things", resource: "things", group: "test" },
		project: readThing,
		sink: store,
		warn: (message) => void warnings.push(message),
	});
	closeAfterwards(watch);
	return { server, store, warnings, connection, asked, clock, watch };
}

export const content = (store: NotingStore) => [...store.values()].map(({ name, value }) => name + value).toSorted();

export function settle(ms = 20): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, ms));
}
