import { describe, expect, test } from "vitest";
import { getScale } from "../../../agent/cluster-api/controller-scale.ts";
import { createApiAsker } from "../../../agent/kubernetes/api-asker.ts";
import { createDiscovery } from "../../../agent/kubernetes/discovery.ts";
import { AgentUnavailableError } from "../../../disruption/errors.ts";
import { createAnsweringConnection } from "../../fuzz/answering-connection.ts";

const daemonSet = { apiVersion: "apps/v1", kind: "DaemonSet", name: "proxy" };
const rocket = { apiVersion: "space.example.com/v1", kind: "Rocket", name: "r" };

type Answers = Readonly<Record<string, { readonly status?: number; readonly body: unknown }>>;

function ask(answers: Answers, controller: Parameters<typeof getScale>[0]) {
	const asked: string[] = [];
	const connection = createAnsweringConnection({
		answer: ({ path }) => {
			asked.push(path);
			const found = answers[path];
			return found ? { status: found.status ?? 200, body: found.body } : { status: 404, body: "404 page not found" };
		},
	});
	const asker = createApiAsker(connection);
	const discovery = createDiscovery(asker, { now: () => 0 });
	return { asked, answer: getScale(controller, "shop", { asker, discovery }) };
}

describe("getScale() of a DaemonSet", () => {
	const path = "/apis/apps/v1/namespaces/shop/daemonsets/proxy";
	const of = (generation: unknown, status: object) => ({
		[path]: { body: { metadata: { name: "proxy", uid: "u", resourceVersion: "7", generation }, spec: {}, status } },
	});

	test("is the number of nodes that its controller has found for it", async () => {
		const { answer } = ask(of(2, { observedGeneration: 2, desiredNumberScheduled: 3 }), daemonSet);
		expect(await answer).toEqual({ kind: "replicas", replicas: 3, uid: "u" });
	});

	for (const [name, status] of [
		["its controller speaks of an earlier generation", { observedGeneration: 1, desiredNumberScheduled: 3 }],
		["its controller has not looked at it yet", { desiredNumberScheduled: 0 }],
	] as const) {
		test(`is not known where ${name}`, async () => {
			expect(await ask(of(2, status), daemonSet).answer).toEqual({ kind: "unsettled", uid: "u" });
		});
	}

	for (const [name, answers] of [
		["no generation", of(undefined, { observedGeneration: 2, desiredNumberScheduled: 3 })],
		["no number", of(2, { observedGeneration: 2 })],
		["a number below 0", of(2, { observedGeneration: 2, desiredNumberScheduled: -1 })],
		["a status that is none", of(2, [])],
	] as const) {
		test(`rejects one with ${name}`, async () => {
			await expect(ask(answers, daemonSet).answer).rejects.toThrow(AgentUnavailableError);
		});
	}

	test("is gone where the API server says so of this very name", async () => {
		const body = { kind: "Status", details: { name: "proxy", kind: "daemonsets" } };
		expect(await ask({ [path]: { status: 404, body } }, daemonSet).answer).toEqual({ kind: "gone" });
	});
});

describe("getScale() of a kind that is not served", () => {
	const all = "/apis";
	const group = "/apis/space.example.com";
	const apps = { name: "apps", versions: [{ version: "v1" }] };
	const versions = (...names: readonly string[]) => ({
		body: { groups: [apps, { name: "space.example.com", versions: names.map((version) => ({ version })) }] },
	});
	const kinds = (...names: readonly string[]) => ({
		body: {
			resources: names.map((name) => ({ name, kind: name.endsWith("/scale") ? "Scale" : "Rocket", namespaced: true })),
		},
	});

	test("is gone where nobody serves the group: its CRD was uninstalled", async () => {
		expect(await ask({ [all]: { body: { groups: [apps] } } }, rocket).answer).toEqual({ kind: "gone" });
	});

	test("is gone where no version of the group has it", async () => {
		const answers = { [all]: versions("v1", "v2"), [`${group}/v1`]: kinds(), [`${group}/v2`]: kinds() };
		expect(await ask(answers, rocket).answer).toEqual({ kind: "gone" });
	});

	test("is read in another version where the reference's is not served any more", async () => {
		const answers = {
			[all]: versions("v2"),
			[`${group}/v2`]: kinds("rockets", "rockets/scale"),
			[`${group}/v2/namespaces/shop/rockets/r/scale`]: {
				body: { metadata: { name: "r", uid: "u", resourceVersion: "5" }, spec: { replicas: 4 } },
			},
		};
		expect(await ask(answers, rocket).answer).toEqual({ kind: "replicas", replicas: 4, uid: "u" });
	});

	for (const [name, answers] of [
		["the groups cannot be asked", { [all]: { status: 503, body: { message: "down" } } }],
		["everything is a 404: that is no API server", {}],
		["the list of groups is empty: that is no API server", { [all]: { body: { groups: [] } } }],
		["a version refuses", { [`${group}/v1`]: { status: 403, body: { message: "no" } } }],
		["another version cannot be asked", { [all]: versions("v2"), [`${group}/v2`]: { status: 403, body: {} } }],
		["there is no list of groups", { [all]: { body: {} } }],
		["the group has an empty list of versions", { [all]: versions() }],
		["a version leads elsewhere", { [all]: versions("../v1") }],
	] as const) {
		test(`is not known where ${name}`, async () => {
			await expect(ask(answers, rocket).answer).rejects.toThrow(AgentUnavailableError);
		});
	}
});

describe("getScale() of a custom resource that says no number", () => {
	const group = "/apis/space.example.com/v1";
	const kinds = ["rockets", "rockets/scale"].map((name) => ({ name, kind: "Rocket", namespaced: true }));
	const scale = `${group}/namespaces/shop/rockets/r/scale`;
	const answered = (status: number, message: string): Answers => ({
		[group]: { body: { resources: kinds } },
		[scale]: { status, body: { kind: "Status", message } },
	});

	test("names the field that is not set", async () => {
		const message = 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist';
		expect(await ask(answered(500, message), rocket).answer).toEqual({
			kind: "unstated",
			why: "its .spec.replicas is not set",
			passes: false,
		});
	});

	test("may be known again where its API has trouble", async () => {
		expect(await ask(answered(500, "conversion webhook failed"), rocket).answer).toEqual({
			kind: "unstated",
			why: "its scale cannot be read (500: conversion webhook failed)",
			passes: true,
		});
		const away = { [group]: { status: 503, body: "service unavailable" } };
		expect(await ask(away, rocket).answer).toEqual({
			kind: "unstated",
			why: "its API space.example.com/v1 does not answer (503: service unavailable)",
			passes: true,
		});
	});

	test("is an outage where Kubernetes' own workloads cannot be read", async () => {
		const path = "/apis/apps/v1/namespaces/shop/daemonsets/proxy";
		await expect(ask({ [path]: { status: 500, body: { message: "etcd" } } }, daemonSet).answer).rejects.toThrow(
			AgentUnavailableError,
		);
		const job = { apiVersion: "batch/v1", kind: "CronJob", name: "j" };
		await expect(ask({ "/apis/batch/v1": { status: 503, body: "" } }, job).answer).rejects.toThrow(
			AgentUnavailableError,
		);
	});
});
