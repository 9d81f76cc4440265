import { expect, test } from "vitest";
import { ofKeptKey, tellKeyUses } from "../../../plugin/install/key-use.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import { newClient, newContext } from "../../support/build-context.ts";

const signed = (keeper: string | undefined) => ({ action: "Sign", keeper, member: "us", clusterId: "id-us" }) as const;

test("each use of the CA's key leaves an Event beside the Secret that keeps it: who, and for which member", async () => {
	const posted: [string, unknown][] = [];
	const post = (path: string, body: unknown): unknown => {
		posted.push([path, body]);
		return {};
	};
	const contexts = ["eu", "us"].map((name) => newContext(name, newClient({ post })));
	const by = { by: "alice@laptop", at: 1_800_000_000_000 };
	expect(await tellKeyUses(contexts, [signed("eu"), signed("eu"), signed(undefined)], by)).toEqual([]);
	const note = "alice@laptop signed a certificate for the agents of us (id id-us)";
	expect(posted.map(([, body]) => body)).toMatchObject([
		{ reason: "CertificateSigned", regarding: { name: "xpdb-fleet-ca" }, note: `${note} with the key in this Secret` },
		{ reason: "CertificateSigned", regarding: { name: "xpdb-fleet-ca" } },
		{ reason: "CertificateSigned", regarding: { name: "xpdb-agent-tls" }, note: `${note} with the CA's key in a file` },
	]);
	expect(new Set(posted.map(([, body]) => (body as { metadata: { name: string } }).metadata.name)).size).toBe(3);
	expect(posted[0]?.[0]).toBe("/apis/events.k8s.io/v1/namespaces/xpdb-system/events");
});

test("an Event that cannot be written is named", async () => {
	const post = (): never => {
		throw new ApiError("events is forbidden", { code: 403 });
	};
	const told = await tellKeyUses([newContext("eu", newClient({ post }))], [signed("eu")], { by: "alice", at: 0 });
	expect(told).toEqual(["eu: cannot write the Event of this use of the CA's key: events is forbidden"]);
});

test("ofKeptKey() leaves out what is used of a key that is made just now, or is in a file", () => {
	expect(ofKeptKey([signed("eu"), signed(undefined)])).toEqual([signed("eu")]);
	expect(ofKeptKey([{ ...signed("eu"), action: "Create" }, signed("eu")])).toEqual([]);
});
