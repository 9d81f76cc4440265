import { describe, expect, test } from "vitest";
import type { ApiAsker } from "../../../agent/kubernetes/api-asker.ts";
import { listPaged } from "../../../agent/kubernetes/paged-list.ts";
import { SeenVersions } from "../../../agent/kubernetes/seen-versions.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { list, status, thing } from "./watched-things.ts";

const things = { name: "things", path: "/apis/test/v1/things", resource: "things", group: "test" };

/** Lists from an API server that gives these answers, each over the given session. */
function listFrom(pages: readonly { readonly session: number; readonly body: unknown }[]) {
	const connection = { cluster: "eu-1", versions: new SeenVersions(), session: 1 };
	const left = [...pages];
	const paths: string[] = [];
	const asker = {
		connection,
		ask: async ({ path }: { readonly path: string }) => {
			paths.push(path);
			const page = left.shift();
			// The next request uses the session that exists after this answer.
			connection.session = left[0]?.session ?? connection.session;
			return { status: 200, body: page?.body ?? status(500, "asked too often") };
		},
		read: <T>(_question: unknown, reader: () => T) => reader(),
	};
	const listed = listPaged(asker as unknown as ApiAsker, things, (object) => object);
	return { listed, paths };
}

const page = (resourceVersion: string, token: string, name: string) => {
	const { metadata, items } = list(resourceVersion, thing(name, "3"));
	return { metadata: { ...metadata, ...(token !== "" && { continue: token }) }, items };
};
const names = (objects: readonly unknown[]) =>
	objects.map((object) => (object as ReturnType<typeof thing>).metadata.name);

describe("listPaged()", () => {
	test("puts pages together that came over one session, and says which", async () => {
		const { listed } = listFrom([
			{ session: 1, body: page("10", "t", "a") },
			{ session: 1, body: page("10", "", "b") },
		]);
		const { objects, ...rest } = await listed;
		expect({ names: names(objects), ...rest }).toEqual({ names: ["a", "b"], resourceVersion: "10", session: 1 });
	});

	test("begins again where another session has taken the place of the first: its server may have another history", async () => {
		const { listed, paths } = listFrom([
			{ session: 1, body: page("10", "t", "a") },
			{ session: 2, body: page("5", "u", "c") },
			{ session: 2, body: page("5", "", "d") },
		]);
		const { objects, ...rest } = await listed;
		expect({ names: names(objects), ...rest }).toEqual({ names: ["c", "d"], resourceVersion: "5", session: 2 });
		expect(paths.map((path) => path.includes("continue"))).toEqual([false, false, true]);
	});

	test("gives up where that happens twice", async () => {
		const { listed } = listFrom([
			{ session: 1, body: page("10", "t", "a") },
			{ session: 2, body: page("10", "t", "a") },
			{ session: 3, body: page("10", "t", "a") },
		]);
		await expect(listed).rejects.toThrow(AgentUnavailableError);
		await expect(listed).rejects.toThrow(
			'cannot list things in cluster "eu-1": its API server closed the connection between two pages, twice',
		);
	});
});
