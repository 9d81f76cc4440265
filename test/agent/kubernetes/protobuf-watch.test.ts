import { describe, expect, onTestFinished, test } from "vitest";
import { createPodProjection } from "../../../agent/cluster-api/pod-projection.ts";
import { createApiConnection } from "../../../agent/kubernetes/api-connection.ts";
import { podFields, statusFields } from "../../../agent/kubernetes/protobuf-fields.ts";
import { startWatch } from "../../../agent/kubernetes/watch.ts";
import { PodStore } from "../../../agent/views/pod-view.ts";
import { encodeEvent, encodeObject, framed } from "../../support/encode-protobuf.ts";
import { type ScriptedRequest, startScriptedServer } from "../../support/scripted-api-server.ts";
import { createSkippingClock, patiently } from "../../support/skipping-clock.ts";

const pod = (name: string, resourceVersion: string) => ({
	metadata: { name, namespace: "shop", uid: `uid-of-${name}`, resourceVersion },
	spec: {},
	status: {},
});
const frame = (type: string, object: object): Buffer =>
	framed(encodeEvent(type, encodeObject("Pod", object as Record<string, unknown>, podFields)));
const endOfList = (resourceVersion: string) => ({
	metadata: { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } },
});

/** Answers in protobuf, as a server does that was asked for it. */
function protobuf({ stream }: ScriptedRequest, status = 200) {
	stream.respond({ ":status": status, "content-type": "application/vnd.kubernetes.protobuf;stream=watch" });
	return stream;
}

async function setUp(handle: (request: ScriptedRequest, nth: number) => void) {
	const accepted: string[] = [];
	const server = await startScriptedServer((request) => {
		accepted.push(String(request.headers.accept));
		handle(request, accepted.length);
	});
	const clock = createSkippingClock();
	const connection = createApiConnection({ access: server.access, clock, cluster: "eu-1" });
	const store = new PodStore({ clock });
	const warnings: string[] = [];
	const watch = startWatch({
		connection,
		clock,
		random: () => 0.5,
		resource: { name: "pods", path: "/api/v1/pods", resource: "pods", group: "" },
		project: createPodProjection(),
		protobuf: podFields,
		sink: store,
		warn: (message) => void warnings.push(message),
	});
	onTestFinished(async () => {
		watch.close();
		connection.close();
		await server.close();
	});
	return { store, warnings, accepted };
}

const names = (store: PodStore) => [...store.pods("shop")].map(({ name }) => name);

describe("a watch in protobuf", () => {
	test("shows the list and the events after it, wherever the bytes are cut", async () => {
		const { store, accepted } = await setUp((request) => {
			const stream = protobuf(request);
			const bytes = Buffer.concat([
				frame("ADDED", pod("a", "3")),
				frame("ADDED", pod("b", "4")),
				frame("BOOKMARK", endOfList("10")),
				frame("DELETED", pod("a", "11")),
				frame("BOOKMARK", { metadata: { resourceVersion: "15" } }),
			]);
			for (let at = 0; at < bytes.length; at += 7) stream.write(bytes.subarray(at, at + 7));
		});
		await expect.poll(() => store.resourceVersion, patiently).toBe("15");
		expect([names(store), store.live]).toEqual([["b"], true]);
		expect(accepted).toEqual(["application/vnd.kubernetes.protobuf;stream=watch,application/json;stream=watch"]);
	});

	test("keeps up with a pod of 1 MB, 10,000 namespaces, and 5,000 pods that change at once", async () => {
		const big = {
			...pod("big", "3"),
			metadata: { ...pod("big", "3").metadata, labels: { text: "x".repeat(1_000_000) } },
		};
		const spread = (number: number, resourceVersion: string) => ({
			...pod(`pod-${number}`, resourceVersion),
			metadata: { ...pod(`pod-${number}`, resourceVersion).metadata, namespace: `team-${number}` },
		});
		const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
		const { store, warnings } = await setUp((request) => {
			const stream = protobuf(request);
			stream.write(frame("ADDED", big));
			stream.write(Buffer.concat(numbers(10_000).map((number) => frame("ADDED", spread(number, String(10 + number))))));
			stream.write(frame("BOOKMARK", endOfList("20000")));
			stream.write(
				Buffer.concat(numbers(5_000).map((number) => frame("MODIFIED", spread(number, String(20_001 + number))))),
			);
		});
		await expect.poll(() => store.resourceVersion, patiently).toBe("25000");
		expect([store.size, store.live, warnings]).toEqual([10_001, true, []]);
		expect([...store.pods("team-4999")]).toMatchObject([{ name: "pod-4999", resourceVersion: "25000" }]);
		expect([...store.pods("shop")]).toMatchObject([{ labels: { text: "x".repeat(1_000_000) } }]);
	});

	test("reads JSON from a server that answers in JSON", async () => {
		const { store } = await setUp((request) => {
			request.open().send({ type: "ADDED", object: pod("a", "3") }, { type: "BOOKMARK", object: endOfList("10") });
		});
		await expect.poll(() => store.synced, patiently).toBe(true);
		expect(names(store)).toEqual(["a"]);
	});

	test("asks for JSON alone after a frame that it cannot read, and after 406", async () => {
		for (const first of [
			(request: ScriptedRequest) => protobuf(request).write(framed(Buffer.from("garbage"))),
			(request: ScriptedRequest) => request.json(406, { message: "only JSON" }),
		]) {
			const { store, accepted } = await setUp((request, nth) => {
				if (nth === 1) first(request);
				else
					request.open().send({ type: "ADDED", object: pod("a", "3") }, { type: "BOOKMARK", object: endOfList("10") });
			});
			await expect.poll(() => store.synced, patiently).toBe(true);
			expect(accepted).toEqual([expect.stringContaining("protobuf"), "application/json"]);
		}
	});

	test("reads a refusal in protobuf", async () => {
		const { warnings } = await setUp((request) => {
			const refusal = { code: 403, message: "pods are forbidden" };
			protobuf(request, 403).end(encodeObject("Status", refusal, statusFields));
		});
		await expect.poll(() => warnings.length, patiently).toBeGreaterThan(0);
		expect(warnings[0]).toContain("pods are forbidden");
	});

	test("lists again after an event of an expired version", async () => {
		const { store } = await setUp((request, nth) => {
			const stream = protobuf(request);
			stream.write(frame("BOOKMARK", endOfList(nth === 1 ? "10" : "20")));
			const gone = encodeObject("Status", { code: 410, message: "too old" }, statusFields);
			if (nth === 1) stream.write(framed(encodeEvent("ERROR", gone)));
		});
		await expect.poll(() => store.resourceVersion, patiently).toBe("20");
	});

	test("does not take a frame that was cut off for the end of the watch", async () => {
		const { store, warnings } = await setUp((request, nth) => {
			const stream = protobuf(request);
			stream.write(frame("BOOKMARK", endOfList(nth === 1 ? "10" : "20")));
			if (nth === 1) stream.end(frame("ADDED", pod("a", "12")).subarray(0, 20));
		});
		await expect.poll(() => store.resourceVersion, patiently).toBe("20");
		expect(warnings[0]).toContain("the answer was broken off");
	});
});
