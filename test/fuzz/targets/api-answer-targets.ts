// Targets for what the plugin reads from an API server: refusals, and arbitrary answers over a real connection.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import type { EvictionAnswer } from "../../../disruption/round/ticket.ts";
import { classifyRefusal, type Refusal, readPod, requestEviction } from "../../../plugin/evictions/send-eviction.ts";
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import {
	ApiError,
	ConnectionError,
	isPassing,
	kubectlErrorLine,
	readApiError,
} from "../../../plugin/kubernetes/api-error.ts";
import { resolveConnection } from "../../../plugin/kubernetes/connection.ts";
import { createKubernetesClient } from "../../../plugin/kubernetes/kubernetes-client.ts";
import { reportError } from "../../../plugin/run/report-error.ts";
import { guardSink } from "../../../plugin/terminal/guarded-streams.ts";
import { attemptAsync, demandClearText, demandPrintable } from "../clear-error.ts";
import { asyncTarget, demand, type FuzzTarget, syncTarget } from "../fuzz-target.ts";
import { edited, jsonOf } from "../json-edits.ts";
import { oddText, oddValue } from "../odd-values.ts";
import { podObjects, statusObjects } from "../seed-objects.ts";
import { editedText } from "../text-edits.ts";

const texts = statusObjects.map((status) => JSON.stringify(status));
const refusalText = fc.oneof(
	edited(statusObjects).map(jsonOf),
	editedText(
		[...texts, "404 page not found", "<html><body>Log in</body></html>", ""],
		["\u001b[2J", '"kind":"Status"', "null"],
	),
);
const codes = fc.constantFrom(301, 400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 500, 502, 503, 504, 599);

const refusalTarget: FuzzTarget = {
	name: "api-error",
	reads: "what an API server says instead of an answer, up to what a person sees",
	share: 1,
	open: () => {
		const retryAfter = fc.oneof(
			fc.constant(undefined),
			fc.constantFrom("5", "0", "-1", "9".repeat(400), "soon", "1.5", "1000000"),
		);
		return syncTarget(fc.tuple(codes, refusalText, retryAfter), ([code, body, after]) => {
			const error = readApiError(code, body, after);
			demandClearText(error.message);
			demandClearText(kubectlErrorLine(error), "rror");
			const seconds = error.retryAfterSeconds;
			demand(seconds === undefined || (seconds >= 0 && seconds <= 60), `It would wait for ${seconds} s`);
			const { kind } = classifyRefusal(error);
			demand(kind !== "gone" || code === 404, `It takes a ${code} for gone`);
			demand(kind !== "conflict" || code === 409, `It takes a ${code} for a conflict`);
			let shown = "";
			const exit = reportError(error, { argv: [], stderr: guardSink({ write: (text) => (shown += text) }) });
			demand(exit !== 0, "It ends well");
			demandPrintable(shown);
			demand(!shown.includes("internal error"), "It takes a refusal for a bug");
		});
	},
};

const pod = { namespace: "shop", name: "db-0", uid: "uid-db-0" };
const bodies = fc.oneof(
	{
		weight: 3,
		arbitrary: edited([...podObjects, { metadata: { resourceVersion: "9" }, items: podObjects }]).map(jsonOf),
	},
	{ weight: 2, arbitrary: refusalText },
	{ weight: 1, arbitrary: fc.oneof(oddText, oddValue.map(jsonOf)) },
);

const answerTarget: FuzzTarget = {
	name: "api-answer",
	reads: "any answer of an API server over HTTP, by the plugin's client, evictions among them",
	share: 0.08,
	open: async () => {
		let next = { code: 200, body: "" };
		const server = createServer((request, response) => {
			request.resume();
			response.writeHead(next.code, { "content-type": "application/json" });
			response.end(next.body);
		});
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		const flags = { ...readGlobalFlags({}), server: address };
		const none = {
			clusters: new Map(),
			users: new Map(),
			contexts: new Map(),
			currentContext: "",
			ownCluster: undefined,
		};
		const client = createKubernetesClient(resolveConnection(none, undefined, flags, {}));
		const input = fc.record({
			code: fc.oneof({ weight: 2, arbitrary: fc.constantFrom(200, 201) }, { weight: 1, arbitrary: codes }),
			body: bodies,
			call: fc.constantFrom("get", "list", "evict", "delete", "read"),
		});
		return asyncTarget(
			input,
			async ({ code, body, call }) => {
				next = { code, body };
				const options = { gracePeriodSeconds: -1, deletes: call === "delete", dryRun: false };
				const classes = [ApiError, ConnectionError];
				switch (call) {
					case "get":
						await attemptAsync(() => client.get("/api/v1/nodes/n0", { retry: false }), classes);
						return;
					case "list": {
						const items = await attemptAsync(
							() => client.list("/api/v1/pods", { chunkSize: 0 }, { retry: false }),
							classes,
						);
						demand(items === undefined || Array.isArray(items), "It lists what is no list");
						return;
					}
					case "read": {
						const read = await attemptAsync(async () => ({ found: await readPod(client, pod) }), classes);
						demand(
							!read || read.found !== undefined || code === 404 || /"uid":/.test(body),
							"It takes a pod for gone that may be there",
						);
						return;
					}
					case "evict":
					case "delete":
						demandEviction(
							code,
							body,
							await requestEviction(client, pod, options, { preconditions: { uid: pod.uid }, reservationId: "id" }),
						);
				}
			},
			() => {
				client.close();
				server.close();
			},
		);
	},
};

function demandEviction(code: number, body: string, answer: EvictionAnswer<Refusal>): void {
	const { kind } = answer;
	if (kind === "accepted") {
		demand(code < 300, `It takes a ${code} for accepted`);
		const sent = JSON.parse(body) as { status?: unknown };
		demand(typeof sent === "object" && sent.status !== "Failure", "It takes a failure for accepted");
	}
	demand(kind !== "gone" || code === 404, `It takes a ${code} for gone`);
	if (kind === "unknown") demand(isPassing(answer.error), "It does not ask again");
	if (kind === "refused") demandClearText(answer.refusal.message.slice(0, 3_000));
	if (kind === "conflict") demandClearText((answer.message ?? "").slice(0, 3_000));
}

export const apiAnswerTargets: readonly FuzzTarget[] = [refusalTarget, answerTarget];
