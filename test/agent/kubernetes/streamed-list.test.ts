import { describe, expect, test } from "vitest";
import type { ScriptedWatch } from "../../support/scripted-api-server.ts";
import { patiently } from "../../support/skipping-clock.ts";
import { bookmark, content, endOfList, event, list, settle, setUp, status, thing } from "./watched-things.ts";

describe("watch with a streamed list", () => {
	test("shows the list when it is whole, and then every event and bookmark", async () => {
		let watch: ScriptedWatch | undefined;
		const {
			store,
			asked,
			watch: ours,
		} = await setUp({
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
		await expect.poll(() => watch, patiently).toBeDefined();
		await settle();
		expect(store.synced).toBe(false);
		await expect.poll(() => ours.list?.objects, patiently).toBe(2);
		expect(ours.lastListMs).toBeUndefined();
		watch?.send(endOfList("10"));
		await expect.poll(() => store.synced, patiently).toBe(true);
		expect([ours.list, ours.lastListMs]).toEqual([undefined, expect.any(Number)]);
		expect(store.live).toBe(true);
		watch?.send(event("MODIFIED", "a", "11", "!"), event("DELETED", "b", "12"), bookmark("15"));
		await expect.poll(() => store.notes.length, patiently).toBe(4);
		expect(store.notes).toEqual(["list 10: a b", "MODIFIED a 11", "DELETED b 12", "bookmark 15"]);
		expect(content(store)).toEqual(["a!"]);
		expect(asked).toEqual(["streamed list"]);
	});

	test("has no object that was deleted before the end of the list, and each in its last state", async () => {
		const { store } = await setUp({
			"streamed list": (request) => {
				request
					.open()
					.send(
						event("ADDED", "a", "3"),
						event("ADDED", "b", "4"),
						event("MODIFIED", "b", "5", "!"),
						event("DELETED", "a", "6"),
						endOfList("10"),
					);
			},
		});
		await expect.poll(() => store.synced, patiently).toBe(true);
		expect({ content: content(store), notes: store.notes }).toEqual({ content: ["b!"], notes: ["list 10: b"] });
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
		await expect.poll(() => content(store), patiently).toEqual(["b", "ä€𝄞"]);
	});

	test("reads a large object", async () => {
		const { store } = await setUp({
			"streamed list": (request) => {
				const watch = request.open();
				watch.send(event("ADDED", "a", "3", "x".repeat(2_000_000)), endOfList("10"));
			},
		});
		await expect.poll(() => store.get("a")?.value.length, patiently).toBe(2_000_000);
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
			await expect.poll(() => content(store), patiently).toEqual(["a", "b", "c"]);
			expect(asked).toEqual(["streamed list", "list", "list", "watch from 10"]);
			expect(store.notes).toEqual(["list 10: a b", "ADDED c 11"]);
		});
	}

	test("lists in pages where a streamed list falls silent before its end", async () => {
		const { store, asked, clock } = await setUp({
			"streamed list": (request) => request.open().send(event("ADDED", "a", "3")),
			list: (request) => request.json(200, list("10", thing("a", "3"))),
			watch: (request) => void request.open(),
		});
		for (let seconds = 0; seconds < 12; seconds += 2) {
			await settle();
			clock.skip(2_000);
		}
		await expect.poll(() => content(store), patiently).toEqual(["a"]);
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
		await expect.poll(() => content(store), patiently).toEqual(["new"]);
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
		await expect.poll(() => store.notes, patiently).toEqual(["list 20: b"]);
	});
});
