import { describe, expect, test } from "vitest";
import type { ScriptedRequest, ScriptedWatch } from "../../support/scripted-api-server.ts";
import { patiently } from "../../support/skipping-clock.ts";
import { bookmark, content, endOfList, event, settle, setUp, status } from "./watched-things.ts";

describe("watch", () => {
	const listed = (request: ScriptedRequest): ScriptedWatch => {
		const watch = request.open();
		watch.send(event("ADDED", "a", "3"), endOfList("10"));
		return watch;
	};

	test("goes on from where it was when the server ends it in good order, and stays live", async () => {
		let watch: ScriptedWatch | undefined;
		const { store, asked, clock } = await setUp({
			"streamed list": (request) => void (watch = listed(request)),
			watch: (request) => request.open().send(event("ADDED", "b", "21")),
		});
		await expect.poll(() => store.synced, patiently).toBe(true);
		watch?.send(bookmark("20"));
		await expect.poll(() => store.notes, patiently).toContain("bookmark 20");
		clock.skip(1_200);
		watch?.end();
		await expect.poll(() => content(store), patiently).toEqual(["a", "b"]);
		expect(asked).toEqual(["streamed list", "watch from 20"]);
		expect(store.notes).not.toContain("lost");
	});

	test("lists anew where the next watch is open only 5 s after the last sign of life", async () => {
		let watch: ScriptedWatch | undefined;
		const { store, asked, clock } = await setUp({
			"streamed list": (request, nth) => {
				if (nth === 1) return void (watch = listed(request));
				request.open().send(event("ADDED", "c", "22"), endOfList("30"));
			},
			watch: (request) => {
				clock.skip(5_000);
				request.open().send(event("ADDED", "b", "21"));
			},
		});
		await expect.poll(() => store.synced, patiently).toBe(true);
		clock.skip(1_200);
		watch?.end();
		await expect.poll(() => content(store), patiently).toEqual(["c"]);
		expect(asked).toEqual(["streamed list", "watch from 10", "streamed list"]);
		expect(store.notes.filter((note) => note === "lost")).toHaveLength(1);
	});

	test("lists anew when the connection broke, whatever the server's version is: its etcd may have outgrown a restore", async () => {
		const { server, store, asked, warnings } = await setUp({
			"streamed list": (request, nth) => {
				if (nth === 1) return void listed(request);
				request.open().send(event("ADDED", "b", "21"), endOfList("30"));
			},
		});
		await expect.poll(() => store.synced, patiently).toBe(true);
		server.breakConnections();
		await expect.poll(() => content(store), patiently).toEqual(["b"]);
		expect(asked).toEqual(["streamed list", "streamed list"]);
		expect(store.notes).toEqual(["list 10: a", "lost", "list 30: b"]);
		expect(warnings).toHaveLength(1);
	});

	test("is not live while it lists anew over another connection, also where it had ended in good order", async () => {
		let watch: ScriptedWatch | undefined;
		const { server, store, asked } = await setUp({
			"streamed list": (request, nth) => {
				if (nth === 1) return void (watch = listed(request));
				request.open().send(event("ADDED", "b", "21"));
			},
		});
		await expect.poll(() => store.live, patiently).toBe(true);
		watch?.end();
		setImmediate(() => server.breakConnections());
		await expect.poll(() => asked, patiently).toContain("streamed list");
		await expect.poll(() => store.live, patiently).toBe(false);
		await expect.poll(() => asked.filter((what) => what === "streamed list").length, patiently).toBe(2);
		expect(content(store)).toEqual(["a"]);
	});

	test("is live again only when the new list is whole", async () => {
		let second: ScriptedWatch | undefined;
		const { server, store } = await setUp({
			"streamed list": (request, nth) => {
				if (nth === 1) return void listed(request);
				second = request.open();
				second.send(event("ADDED", "b", "21"));
			},
		});
		await expect.poll(() => store.synced, patiently).toBe(true);
		server.breakConnections();
		await expect.poll(() => second, patiently).toBeDefined();
		await settle();
		expect(store.live).toBe(false);
		second?.send(endOfList("30"));
		await expect.poll(() => store.live, patiently).toBe(true);
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
			let first: ScriptedWatch | undefined;
			const { store, asked } = await setUp({
				"streamed list": (request, nth) => {
					if (nth === 1) return void (first = listed(request));
					request.open().send(event("ADDED", "z", "40"), endOfList("50"));
				},
				watch: (request, nth) => {
					if (nth === 1) row.answer(request);
					else request.json(500, status(500, "asked twice"));
				},
			});
			await expect.poll(() => store.synced, patiently).toBe(true);
			first?.end();
			await expect.poll(() => content(store), patiently).toEqual(["z"]);
			expect(asked).toEqual(["streamed list", "watch from 10", "streamed list"]);
			expect(store.notes).not.toContain("reset");
		});
	}

	test("lists anew after any other ERROR event: it must not show old content as soon as it is open", async () => {
		const { store, asked, warnings } = await setUp({
			"streamed list": (request, nth) => {
				if (nth === 1) listed(request).send({ type: "ERROR", object: status(500, "etcd is slow") });
				else request.open().send(event("ADDED", "b", "11"), endOfList("12"));
			},
		});
		await expect.poll(() => content(store), patiently).toEqual(["b"]);
		expect(asked).toEqual(["streamed list", "streamed list"]);
		expect(warnings).toEqual(['cannot watch things in cluster "eu-1": its API server says: etcd is slow']);
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
				"streamed list": (request, nth) => {
					if (nth === 1) listed(request).write(`${garbled}\n${JSON.stringify(bookmark("99"))}\n`);
					else request.open().send(event("ADDED", "b", "11"), endOfList("12"));
				},
			});
			await expect.poll(() => content(store), patiently).toEqual(["b"]);
			expect(asked).toEqual(["streamed list", "streamed list"]);
			expect(store.notes).toEqual(["list 10: a", "lost", "list 12: b"]);
			expect(warnings[0]).toContain("cannot be understood");
		});
	}

	test("is not live any more when the server freezes, and is again when it comes back", async () => {
		const { server, store, clock, asked } = await setUp({
			"streamed list": (request) => void listed(request),
		});
		await expect.poll(() => store.live, patiently).toBe(true);
		server.freeze();
		clock.skip(2_000); // The next ping.
		clock.skip(5_000); // No answer to the ping.
		expect(store.live).toBe(false);
		await expect.poll(() => store.notes, patiently).toContain("lost");
		server.thaw();
		await expect.poll(() => asked, patiently).toEqual(["streamed list", "streamed list"]);
		await settle();
		clock.skip(2_000);
		await expect.poll(() => store.live, patiently).toBe(true);
		expect(store.synced).toBe(true);
	});

	test("stays live on answers to pings alone", async () => {
		const { store, clock } = await setUp({ "streamed list": (request) => void listed(request) });
		await expect.poll(() => store.synced, patiently).toBe(true);
		for (let seconds = 0; seconds < 16; seconds += 4) {
			clock.skip(2_000); // A ping.
			await settle();
			clock.skip(2_000);
			await settle();
			await expect.poll(() => store.live, patiently).toBe(true);
		}
		expect(store.notes).toEqual(["list 10: a"]);
	});

	test("drops everything and lists anew where the versions went back: etcd was restored", async () => {
		const { server, store, asked, warnings } = await setUp({
			"streamed list": (request, nth) => {
				if (nth === 1) return void listed(request);
				request.open().send(event("ADDED", "old", "2"), endOfList("5"));
			},
		});
		await expect.poll(() => store.synced, patiently).toBe(true);
		server.breakConnections();
		await expect.poll(() => content(store), patiently).toEqual(["old"]);
		// The first list of the restored server only shows that etcd has another history, and is not used.
		expect(asked).toEqual(["streamed list", "streamed list", "streamed list"]);
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
		await expect.poll(() => store.notes.at(-1), patiently).toBe("list 6:");
		expect(store.notes).toEqual(["list 10: a", "ADDED b 12", "reset", "lost", "list 6:"]);
	});

	test("drops everything as soon as any answer of this server shows that versions went back", async () => {
		const { store, connection } = await setUp({
			"streamed list": (request, nth) => {
				if (nth === 1) return void listed(request);
				request.open().send(event("ADDED", "old", "2"), endOfList("5"));
			},
		});
		await expect.poll(() => store.synced, patiently).toBe(true);
		connection.versions.saw("leases", "100");
		connection.versions.answered(connection.versions.mark("leases"), "40");
		expect(store.synced).toBe(false);
		await expect.poll(() => content(store), patiently).toEqual(["old"]);
	});

	test("tries again with pauses where the server refuses, and says what right is missing", async () => {
		const { store, warnings, clock } = await setUp({
			"streamed list": (request) => request.json(403, status(403, "things is forbidden")),
		});
		// Three quarters of a backoff that doubles from 100 ms to 3 s.
		const pauses = [75, 150, 300, 600, 1_200, 2_250, 2_250];
		for (const [index, pauseMs] of pauses.entries()) {
			const set = () => clock.set.filter((ms) => pauses.includes(ms));
			await expect.poll(set, patiently).toEqual(pauses.slice(0, index + 1));
			clock.skip(pauseMs);
		}
		expect(warnings[0]).toContain("the agent has no permission to watch things.test");
		expect(store.synced).toBe(false);
	});

	test("says nothing more when it is closed", async () => {
		let served: ScriptedWatch | undefined;
		const { store, asked, watch } = await setUp({ "streamed list": (request) => void (served = listed(request)) });
		await expect.poll(() => store.synced, patiently).toBe(true);
		watch.close();
		served?.send(event("ADDED", "b", "11"));
		await settle();
		expect(store.notes).toEqual(["list 10: a"]);
		expect(asked).toHaveLength(1);
	});
});
