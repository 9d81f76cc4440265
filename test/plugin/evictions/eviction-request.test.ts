import { describe, expect, test } from "vitest";
import { readPod, requestEviction } from "../../../plugin/evictions/send-eviction.ts";
import { ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import type { KubernetesClient } from "../../../plugin/kubernetes/kubernetes-client.ts";

const pod = { namespace: "shop", name: "db-0", uid: "uid-0" };
const metadata = { name: "db-0", uid: "uid-0", resourceVersion: "7" };

function answering(body: unknown): KubernetesClient {
	const answer = async () => body;
	return { server: "https://eu", get: answer, post: answer, delete: answer } as unknown as KubernetesClient;
}

describe("requestEviction()", () => {
	for (const deletes of [true, false]) {
		const options = { gracePeriodSeconds: -1, deletes, dryRun: false };
		const name = deletes ? "DELETE" : "eviction";
		test(`takes no Failure for an accepted ${name}, whatever its code`, async () => {
			const client = answering({ kind: "Status", status: "Failure", message: 7 });
			expect(await requestEviction(client, pod, options, { preconditions: { uid: pod.uid } })).toMatchObject({
				kind: "refused",
				refusal: { kind: "denied", message: "the eviction failed" },
			});
		});

		test(`takes the answer to a ${name}`, async () => {
			const client = answering({ kind: "Status", status: "Success" });
			expect(await requestEviction(client, pod, options, { preconditions: { uid: pod.uid } })).toEqual({
				kind: "accepted",
			});
		});
	}
});

describe("readPod()", () => {
	test("takes another uid for gone", async () => {
		expect(await readPod(answering({ metadata: { ...metadata, uid: "uid-1" } }), pod)).toBeUndefined();
	});

	const rows: readonly { readonly name: string; readonly body: unknown }[] = [
		{ name: "no metadata", body: { kind: "Status" } },
		{ name: "no uid", body: { metadata: { ...metadata, uid: undefined } } },
		{ name: "no resourceVersion", body: { metadata: { ...metadata, resourceVersion: "" } } },
		{ name: "annotations that are null", body: { metadata: { ...metadata, annotations: null } } },
		{ name: "a deletionTimestamp that is null", body: { metadata: { ...metadata, deletionTimestamp: null } } },
		{ name: "a deletionTimestamp that is false", body: { metadata: { ...metadata, deletionTimestamp: false } } },
	];
	for (const { name, body } of rows) {
		test(`takes what has ${name} for no answer: neither gone nor terminating`, async () => {
			const reading = readPod(answering(body), pod);
			await expect(reading).rejects.toBeInstanceOf(ConnectionError);
			await expect(reading).rejects.toThrow("the answer for pod shop/db-0 is not a pod");
		});
	}
});
