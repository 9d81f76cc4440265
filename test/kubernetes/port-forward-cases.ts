import { once } from "node:events";
import { expect } from "vitest";
import { WebSocket } from "ws";
import type { ContractCase } from "./contract-case.ts";
import type { ContractWorld } from "./contract-world.ts";

const protocol = "v4.channel.k8s.io";

function dial(world: ContractWorld, path: string, as: "admin" | "operator" | "nobody"): WebSocket {
	const { server, authority } = world.target;
	const pair = as === "nobody" ? undefined : world.target[as];
	return new WebSocket(server.replace(/^http/, "ws") + path, [protocol], {
		ca: authority,
		...(pair && { cert: pair.certificate, key: pair.key }),
	});
}

async function refusal(ws: WebSocket): Promise<{ readonly code: number; readonly body: unknown }> {
	const answer = new Promise<{ code: number; body: unknown }>((resolve, reject) => {
		ws.once("open", () => reject(new Error("it was opened")));
		ws.once("error", () => undefined);
		ws.once("unexpected-response", (request, response) => {
			let text = "";
			response.setEncoding("utf8");
			response.on("data", (chunk: string) => (text += chunk));
			response.on("end", () => {
				request.destroy();
				resolve({ code: response.statusCode ?? 0, body: JSON.parse(text) });
			});
		});
	});
	return answer;
}

export const portForwardCases: readonly ContractCase[] = [
	{
		name: "joins a WebSocket with a port of a pod, each channel announced by the port's number",
		async run(world) {
			const { namespace, name, port } = await world.target.httpPod();
			const ws = dial(world, `/api/v1/namespaces/${namespace}/pods/${name}/portforward?ports=${port}`, "operator");
			const frames: Buffer[] = [];
			ws.on("message", (data: Buffer) => frames.push(data));
			await once(ws, "open");
			expect(ws.protocol).toBe(protocol);
			const text = "GET /healthz HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n";
			ws.send(Buffer.concat([Buffer.of(0), Buffer.from(text)]));
			const data = () => frames.filter(([channel]) => channel === 0).map((frame) => frame.subarray(1));
			await world.until("an answer", async () => data().length >= 2);
			const [announced, ...content] = data();
			expect(announced?.readUInt16LE()).toBe(port);
			expect(Buffer.concat(content).toString()).toMatch(/^HTTP\/1\.1 200 OK/);
			const [failures] = frames.filter(([channel]) => channel === 1);
			expect(failures?.subarray(1).readUInt16LE()).toBe(port);
			ws.terminate();
		},
	},
	{
		name: "says on the error channel that nothing listens",
		async run(world) {
			const { namespace, name } = await world.target.httpPod();
			const ws = dial(world, `/api/v1/namespaces/${namespace}/pods/${name}/portforward?ports=9`, "operator");
			const problems: string[] = [];
			let isAnnounced = false;
			ws.on("message", (data: Buffer) => {
				if (data[0] !== 1) return;
				if (isAnnounced) problems.push(data.subarray(1).toString());
				isAnnounced = true;
			});
			await once(ws, "open");
			// The kubelet connects only when the first data arrives.
			ws.send(Buffer.from("\u0000hello"));
			await world.until("a problem", async () => problems.length > 0);
			expect(problems.join("")).toContain("9");
			ws.terminate();
		},
	},
	{
		name: "is a 403 without the right, and a 404 without the pod",
		async run(world) {
			const { namespace, name, port } = await world.target.httpPod();
			const path = `/api/v1/namespaces/${namespace}/pods/${name}/portforward?ports=${port}`;
			expect(await refusal(dial(world, path, "nobody"))).toMatchObject({
				code: 403,
				body: { reason: "Forbidden", details: { name, kind: "pods" } },
			});
			const missing = `${world.path("pods", "missing")}/portforward?ports=8443`;
			expect(await refusal(dial(world, missing, "admin"))).toMatchObject({ code: 404, body: { reason: "NotFound" } });
		},
	},
];
