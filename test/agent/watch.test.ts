import { afterEach, describe, expect, test } from "vitest";
import { type ApiConnection, createApiConnection } from "../../agent/api-connection.ts";
import { ObjectStore } from "../../agent/object-views.ts";
import { startWatch } from "../../agent/watch.ts";
import type { WatchEvent } from "../../agent/watch-sink.ts";
import { createFastClock } from "./fast-clock.ts";
import {
	type ScriptedRequest,
	type ScriptedServer,
	type ScriptedWatch,
	startScriptedServer,
} from "./scripted-api-server.ts";

interface Thing {
	readonly name: string;
	readonly value: string;
}

const thing = (name: string, resourceVersion: string, value = "") => ({
	metadata: { name, resourceVersion },
	value,
});
const event = (type: WatchEvent<Thing>["type"], name: string, resourceVersion: string, value = "") => ({
	type,
	object: thing(name, resourceVersion, value),
});
const bookmark = (resourceVersion: string) => ({ type: "BOOKMARK", object: { metadata: { resourceVersion } } });
const endOfList = (resourceVersion: string) => ({
	type: "BOOKMARK",
	object: { metadata: { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } } },
});
const list = (resourceVersion: string, ...items: readonly unknown[]) => ({ metadata: { resourceVersion }, items });
const status = (code: number, message: string) => ({ kind: "Status", code, message });

function readThing(object: unknown): Thing {
	const { metadata, value } = object as { metadata?: { name?: string }; value?: string };
	if (metadata?.name === undefined || value === undefined) throw new TypeError("it is no thing");
	return { name: metadata.name, value };
}

/** Notes what it is told, in order. */
class NotingStore extends ObjectStore<Thing> {
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

const open: { close(): unknown }[] = [];
afterEach(async () => {
	for (const one of open.splice(0).toReversed()) await one.close();
});

type Kind = "streamed list" | "list" | "check" | "watch";

function kindOf({ query }: ScriptedRequest): Kind {
	if (query.get("sendInitialEvents") === "true") return "streamed list";
	if (query.get("watch") === "true") return "watch";
	return query.get("limit") === "1" ? "check" : "list";
}

/** Starts a watch on things against a server whose answers the test writes, one kind of request each. */
async function setUp(
	handlers: Partial<Record<Kind, (request: ScriptedRequest, nth: number) => void>>,
	speed = 20,
): Promise<{
	readonly server: ScriptedServer;
	readonly store: NotingStore;
	readonly warnings: string[];
	readonly connection: ApiConnection;
	readonly asked: string[];
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
	open.push(server);
	const clock = createFastClock(speed);
	const connection = createApiConnection({ access: server.access, clock, cluster: "eu-1" });
	open.push(connection);
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
	open.push(watch);
	return { server, store, warnings, connection, asked };
}

const content = (store: NotingStore) => [...store.values()].map(({ name, value }) => name + value).toSorted();

describe("watch with a streamed list", () => {
	test("shows the list when it is whole, and then every event and bookmark", async () => {
		let watch: ScriptedWatch | undefined;
		const { store, asked } = await setUp({
			"streamed list": (request) => {
				expect(Object.fromEntries(request.query)).toMatchObject({
					watch: "true",
					sendInitialEvents: "true",
					resourceVersionMatch: "NotOlderThan",
					allowWatchBookmarks: "true",
				});
				watch = request.open();
				watch.send(event("ADDED", "a", "3"), event("ADDED", "b", "9"));
			},
		});
		await expect.poll(() => watch).toBeDefined();
		await settle();
		expect(store.synced).toBe(false);
		watch?.send(endOfList("10"));
		await expect.poll(() => store.synced).toBe(true);
		expect(store.live).toBe(true);
		watch?.send(event("MODIFIED", "a", "11", "!"), event("DELETED", "b", "12"), bookmark("15"));
		await expect.poll(() => store.notes.length).toBe(4);
		expect(store.notes).toEqual(["list 10: a b", "MODIFIED a 11", "DELETED b 12", "bookmark 15"]);
		expect(content(store)).toEqual(["a!"]);
		expect(asked).toEqual(["streamed list"]);
	});

	test("reads events that are split into single bytes", async () => {
		const { store } = await setUp({
			"streamed list": (request) => {
				const watch = request.open();
				const text = [event("ADDED", "ä€𝄞", "3"), endOfList("10"), event("ADDED", "b", "11")]
					.map((line) => `${JSON.stringify(line)}\n`)
					.join("");
				for (const byte of Buffer.from(text)) watch.write(Buffer.from([byte]));
			},
		});
		await expect.poll(() => content(store)).toEqual(["b", "ä€𝄞"]);
	});

	test("reads a large object", async () => {
		const { store } = await setUp({
			"streamed list": (request) => {
				const watch = request.open();
				watch.send(event("ADDED", "a", "3", "x".repeat(2_000_000)), endOfList("10"));
			},
		});
		await expect.poll(() => store.get("a")?.value.length).toBe(2_000_000);
	});

	for (const refusal of [422, 400]) {
		test(`lists in pages where the server answers ${refusal} to a streamed list`, async () => {
			const { store, asked } = await setUp({
				"streamed list": (request) => request.json(refusal, status(refusal, "sendInitialEvents is forbidden")),
				list: (request) => {
					const first = list("10", thing("a", "3"));
					if (request.query.get("limit") !== "250") request.json(500, status(500, "not in pages"));
					else if (request.query.get("continue") === "t/1") request.json(200, list("10", thing("b", "4")));
					else request.json(200, { ...first, metadata: { ...first.metadata, continue: "t/1" } });
				},
				watch: (request) => request.open().send(event("ADDED", "c", "11")),
			});
			await expect.poll(() => content(store)).toEqual(["a", "b", "c"]);
			expect(asked).toEqual(["streamed list", "list", "list", "watch from 10"]);
			expect(store.notes).toEqual(["list 10: a b", "ADDED c 11"]);
		});
	}

	test("lists in pages where a streamed list falls silent before its end", async () => {
		const { store, asked } = await setUp(
			{
				"streamed list": (request) => request.open().send(event("ADDED", "a", "3")),
				list: (request) => request.json(200, list("10", thing("a", "3"))),
				watch: (request) => void request.open(),
			},
			100,
		);
		await expect.poll(() => content(store)).toEqual(["a"]);
		expect(asked.slice(0, 2)).toEqual(["streamed list", "list"]);
	});

	test("starts a streamed list over that the server ended early, and shows nothing of the first", async () => {
		const { store, warnings } = await setUp({
			"streamed list": (request, nth) => {
				const watch = request.open();
				watch.send(event("ADDED", nth === 1 ? "old" : "new", "3"));
				if (nth === 1) watch.end();
				else watch.send(endOfList("10"));
			},
		});
		await expect.poll(() => content(store)).toEqual(["new"]);
		expect(store.notes).toEqual(["lost", "list 10: new"]);
		expect(warnings[0]).toContain("ended the list before it was complete");
	});

	test("begins again where a page of the list is too old", async () => {
		const { store } = await setUp({
			"streamed list": (request) => request.json(422, status(422, "no")),
			list: (request, nth) => {
				const first = list("10", thing("a", "3"));
				if (nth === 1) request.json(200, { ...first, metadata: { ...first.metadata, continue: "t" } });
				else if (nth === 2) request.json(410, status(410, "continue token too old"));
				else request.json(200, list("20", thing("b", "15")));
			},
			watch: (request) => void request.open(),
		});
		await expect.poll(() => store.notes).toEqual(["list 20: b"]);
	});
});

describe("watch", () => {
	const listed = (request: ScriptedRequest): ScriptedWatch => {
		const watch = request.open();
		watch.send(event("ADDED", "a", "3"), endOfList("10"));
		return watch;
	};

	test("goes on from where it was when the server ends it in good order, and stays live", async () => {
		const { store, asked } = await setUp({
			"streamed list": (request) => {
				const watch = listed(request);
				watch.send(bookmark("20"));
				setTimeout(() => watch.end(), 60); // 1.2 s of its clock.
			},
			watch: (request) => request.open().send(event("ADDED", "b", "21")),
		});
		await expect.poll(() => content(store)).toEqual(["a", "b"]);
		expect(asked).toEqual(["streamed list", "watch from 20"]);
		expect(store.notes).not.toContain("lost");
	});

	test("checks the server's version when the connection broke, and goes on from where it was", async () => {
		const { server, store, asked, warnings } = await setUp({
			"streamed list": (request) => void listed(request),
			check: (request) => request.json(200, list("30", thing("a", "3"))),
			watch: (request) => request.open().send(event("ADDED", "b", "21")),
		});
		await expect.poll(() => store.synced).toBe(true);
		server.breakConnections();
		await expect.poll(() => content(store)).toEqual(["a", "b"]);
		expect(asked).toEqual(["streamed list", "check", "watch from 10"]);
		expect(store.notes).toEqual(["list 10: a", "lost", "ADDED b 21"]);
		expect(warnings).toHaveLength(1);
	});

	test("is live again only when the new watch has shown a sign of life", async () => {
		let watch: ScriptedWatch | undefined;
		const { server, store } = await setUp(
			{
				"streamed list": (request) => void listed(request),
				check: (request) => request.json(200, list("30")),
				watch: (request) => void (watch = request.open()),
			},
			1,
		);
		await expect.poll(() => store.synced).toBe(true);
		server.breakConnections();
		await expect.poll(() => watch).toBeDefined();
		expect(store.live).toBe(false);
		watch?.send(bookmark("31"));
		await expect.poll(() => store.live).toBe(true);
	});

	for (const row of [
		{
			name: "an ERROR event with code 410",
			answer: (request: ScriptedRequest) =>
				request.open().send({ type: "ERROR", object: status(410, "too old resource version") }),
		},
		{
			name: "the status 410",
			answer: (request: ScriptedRequest) => request.json(410, status(410, "too old resource version")),
		},
	]) {
		test(`lists anew after ${row.name}`, async () => {
			const { server, store, asked } = await setUp({
				"streamed list": (request, nth) => {
					if (nth === 1) return void listed(request);
					request.open().send(event("ADDED", "z", "40"), endOfList("50"));
				},
				check: (request) => request.json(200, list("30")),
				watch: (request, nth) => {
					if (nth === 1) row.answer(request);
					else request.json(500, status(500, "asked twice"));
				},
			});
			await expect.poll(() => store.synced).toBe(true);
			server.breakConnections();
			await expect.poll(() => content(store)).toEqual(["z"]);
			expect(asked).toEqual(["streamed list", "check", "watch from 10", "streamed list"]);
			expect(store.notes).not.toContain("reset");
		});
	}

	test("goes on after any other ERROR event", async () => {
		const { store, warnings } = await setUp({
			"streamed list": (request) => listed(request).send({ type: "ERROR", object: status(500, "etcd is slow") }),
			check: (request) => request.json(200, list("10")),
			watch: (request) => request.open().send(event("ADDED", "b", "11")),
		});
		await expect.poll(() => content(store)).toEqual(["a", "b"]);
		expect(warnings).toEqual(['Cannot watch things in cluster "eu-1": its API server says: etcd is slow']);
	});

	for (const garbled of [
		"not json",
		'{"type":"ADDED"}',
		'{"type":"ADDED","object":{"metadata":{"resourceVersion":"x1"},"value":""}}',
		'{"type":"MOVED","object":{"metadata":{"resourceVersion":"11"}}}',
		'{"type":"ADDED","object":{"metadata":{"resourceVersion":"11"}}}',
		"[]",
		"",
	]) {
		test(`warns of the event ${JSON.stringify(garbled)}, and never passes over it`, async () => {
			const { store, warnings, asked } = await setUp({
				"streamed list": (request) => listed(request).write(`${garbled}\n${JSON.stringify(bookmark("99"))}\n`),
				check: (request) => request.json(200, list("10")),
				watch: (request) => request.open().send(event("ADDED", "b", "11")),
			});
			await expect.poll(() => content(store)).toEqual(["a", "b"]);
			expect(asked).toContain("watch from 10");
			expect(warnings[0]).toContain("cannot be understood");
		});
	}

	test("is not live any more when the server freezes, and is again when it comes back", async () => {
		const { server, store } = await setUp(
			{
				"streamed list": (request) => void listed(request),
				check: (request) => request.json(200, list("10")),
				watch: (request) => void request.open(),
			},
			50,
		);
		await expect.poll(() => store.live).toBe(true);
		server.freeze();
		await expect.poll(() => store.live).toBe(false);
		await expect.poll(() => store.notes).toContain("lost");
		server.thaw();
		await expect.poll(() => store.live, { timeout: 3_000 }).toBe(true);
		expect(store.synced).toBe(true);
	});

	test("stays live on answers to pings alone", async () => {
		const { store } = await setUp({ "streamed list": (request) => void listed(request) }, 50);
		await expect.poll(() => store.synced).toBe(true);
		await settle(300); // 15 s of its clock.
		expect(store.live).toBe(true);
	});

	test("drops everything and lists anew where the versions went back: etcd was restored", async () => {
		const { server, store, asked, warnings } = await setUp({
			"streamed list": (request, nth) => {
				if (nth === 1) return void listed(request);
				request.open().send(event("ADDED", "old", "2"), endOfList("5"));
			},
			check: (request) => request.json(200, list("5", thing("old", "2"))),
			watch: (request) => void request.open(),
		});
		await expect.poll(() => store.synced).toBe(true);
		server.breakConnections();
		await expect.poll(() => content(store)).toEqual(["old"]);
		expect(asked).toEqual(["streamed list", "check", "streamed list"]);
		expect(store.notes).toEqual(["list 10: a", "lost", "reset", "lost", "list 5: old"]);
		expect(warnings.join()).toContain("was etcd restored?");
		expect(store.live).toBe(true);
	});

	test("drops everything where an event is older than the one before it", async () => {
		const { store } = await setUp({
			"streamed list": (request, nth) => {
				if (nth === 1) return listed(request).send(event("ADDED", "b", "12"), event("ADDED", "c", "4"));
				request.open().send(endOfList("6"));
			},
		});
		await expect.poll(() => store.notes.at(-1)).toBe("list 6:");
		expect(store.notes).toEqual(["list 10: a", "ADDED b 12", "reset", "lost", "list 6:"]);
	});

	test("drops everything as soon as any answer of this server shows that versions went back", async () => {
		const { store, connection } = await setUp({
			"streamed list": (request, nth) => {
				if (nth === 1) return void listed(request);
				request.open().send(event("ADDED", "old", "2"), endOfList("5"));
			},
		});
		await expect.poll(() => store.synced).toBe(true);
		connection.versions.saw("leases", "100");
		connection.versions.answered(connection.versions.mark("leases"), "40");
		expect(store.synced).toBe(false);
		await expect.poll(() => content(store)).toEqual(["old"]);
	});

	test("tries again with pauses where the server refuses, and says what right is missing", async () => {
		const { store, warnings, asked } = await setUp(
			{
				"streamed list": (request) => request.json(403, status(403, "things is forbidden")),
			},
			10,
		);
		await settle(200); // 2 s of its clock: 75, 150, 300, 600, 1200 ms apart.
		expect(asked.length).toBeGreaterThan(2);
		expect(asked.length).toBeLessThan(8);
		expect(warnings[0]).toContain("we have no right to watch things.test");
		expect(store.synced).toBe(false);
	});

	test("says nothing more when it is closed", async () => {
		let watch: ScriptedWatch | undefined;
		const { store, asked } = await setUp({ "streamed list": (request) => void (watch = listed(request)) });
		await expect.poll(() => store.synced).toBe(true);
		for (const one of open.splice(-1)) await one.close();
		watch?.send(event("ADDED", "b", "11"));
		await settle();
		expect(store.notes).toEqual(["list 10: a"]);
		expect(asked).toHaveLength(1);
	});
});

function settle(ms = 20): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, ms));
}
