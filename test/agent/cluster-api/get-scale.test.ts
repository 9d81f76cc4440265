import { afterEach, describe, expect, test } from "vitest";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { answering, closeApis, connectApi as setUp } from "./scripted-cluster-api.ts";

afterEach(closeApis);

describe("ClusterApi.getScale() of other kinds", () => {
	const rocket = { apiVersion: "space.example.com/v1", kind: "Rocket", name: "r", uid: "u" };
	const prefix = "/apis/space.example.com/v1";
	const resources = (...names: readonly string[]) => ({
		resources: names.map((name) => ({ name, kind: name.endsWith("/scale") ? "Scale" : "Rocket", namespaced: true })),
	});
	const scale = (replicas?: number) => ({
		metadata: { name: "r", uid: "u", resourceVersion: "5" },
		spec: replicas === undefined ? {} : { replicas },
	});

	test("asks discovery once a minute", async () => {
		const { api, clock, asked } = await setUp((request) =>
			request.path === prefix ? request.json(200, resources("rockets", "rockets/scale")) : request.json(200, scale(3)),
		);
		const discoveries = () => asked().filter((call) => call === `GET ${prefix}`).length;
		await Promise.all([api.getScale(rocket, "db"), api.getScale(rocket, "db")]);
		expect(await api.getScale(rocket, "db")).toMatchObject({ kind: "replicas", replicas: 3 });
		expect(discoveries()).toBe(1);
		expect(asked()).toContain(`GET ${prefix}/namespaces/db/rockets/r/scale`);
		clock.advance(60_000);
		await api.getScale(rocket, "db");
		expect(discoveries()).toBe(2);
	});

	test("reads no replicas in a Scale as 0, which it leaves out", async () => {
		const { api } = await setUp((request) =>
			request.path === prefix ? request.json(200, resources("rockets", "rockets/scale")) : request.json(200, scale()),
		);
		expect(await api.getScale(rocket, "db")).toMatchObject({ kind: "replicas", replicas: 0 });
	});

	test("asks again where the kind had no scale", async () => {
		const known = ["rockets"];
		const { api } = await setUp((request) =>
			request.json(200, request.path === prefix ? resources(...known) : scale(1)),
		);
		expect(await api.getScale(rocket, "db")).toEqual({ kind: "withoutScale" });
		known.push("rockets/scale");
		expect(await api.getScale(rocket, "db")).toMatchObject({ kind: "replicas", replicas: 1 });
	});

	test("remembers no discovery that failed", async () => {
		const { api } = await setUp((request, nth) => {
			if (nth === 1) request.json(503, { message: "aggregated API is down" });
			else if (request.path === prefix) request.json(200, resources("rockets", "rockets/scale"));
			else request.json(200, scale(2));
		});
		expect(await api.getScale(rocket, "db")).toMatchObject({ kind: "unstated", passes: true });
		expect(await api.getScale(rocket, "db")).toMatchObject({ kind: "replicas", replicas: 2 });
	});

	for (const replicas of [-1, 1.5, "3"]) {
		test(`rejects replicas ${JSON.stringify(replicas)}`, async () => {
			const { api } = await setUp((request) =>
				request.path === prefix
					? request.json(200, resources("rockets", "rockets/scale"))
					: request.json(200, { ...scale(), spec: { replicas } }),
			);
			await expect(api.getScale(rocket, "db")).rejects.toThrow(/spec.replicas/);
		});
	}
});

describe("ClusterApi.getScale() of workloads", () => {
	const statefulSet = { apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "u" };

	// The API server sets a default of 1, so an object without the number is incomplete. Reading it as 0 would allow more evictions.
	test("rejects what says no replicas", async () => {
		const metadata = { name: "db", uid: "u", resourceVersion: "7" };
		for (const body of [{ metadata }, { metadata, spec: {} }, { metadata, spec: { replicas: 2 ** 31 } }]) {
			const { api } = await setUp(answering(200, body));
			await expect(api.getScale(statefulSet, "db")).rejects.toBeInstanceOf(AgentUnavailableError);
		}
	});

	test("asks nothing for a reference that leads elsewhere", async () => {
		const { api, asked } = await setUp(answering(200, {}));
		for (const part of [
			{ name: "../../secrets/root" },
			{ name: "db?watch=1" },
			{ kind: "a b" },
			{ apiVersion: "../v1" },
			{ apiVersion: "" },
		]) {
			await expect(api.getScale({ ...statefulSet, ...part }, "db")).rejects.toThrow(/cannot be the one of an object/);
		}
		expect(asked()).toEqual([]);
	});
});
