import { expect, test } from "vitest";
import { warnOfKeyThatLeaves } from "../../../plugin/install/key-keeper.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import type { KubeContext } from "../../../plugin/kubernetes/kube-context.ts";
import { newClient, newContext } from "../../support/build-context.ts";

/** `code` is the status code of a read of the Secret. */
function cluster(name: string, code: number): KubeContext {
	const get = (path: string): unknown => {
		expect(path).toBe("/api/v1/namespaces/xpdb-system/secrets/xpdb-fleet-ca");
		if (code === 200) return {};
		throw new ApiError("no", { code });
	};
	return newContext(name, newClient({ get }));
}

test("says nothing where a cluster that stays keeps the CA's key", async () => {
	const said = await warnOfKeyThatLeaves([cluster("eu", 404), cluster("us", 200)], "ap");
	expect(said).toEqual({ before: [], after: [] });
});

test("says that the key may leave with the member, how to move it, and how to shut that member out", async () => {
	const { before, after } = await warnOfKeyThatLeaves([cluster("eu", 404), cluster("us", 404)], "ap");
	expect(before[0]).toContain(
		"none of eu, us keeps the CA's key (Secret xpdb-fleet-ca). If ap does, anyone with access to ap",
	);
	expect(before[1]).toMatch(/kubectl xpdb install certs --keep-in=eu --contexts=CONTEXT,eu,us$/);
	expect(after[0]).toMatch(/kubectl xpdb install certs --rotate --ca --keep-in=eu --contexts=eu,us$/);
});

test("says where nobody could look", async () => {
	const { before, after } = await warnOfKeyThatLeaves([cluster("eu", 404), cluster("us", 403)], "ap");
	expect([before, after]).toEqual([
		["cannot tell whether us keeps the CA's key (Secret xpdb-fleet-ca): if ap keeps it, change the CA afterwards"],
		[],
	]);
});
