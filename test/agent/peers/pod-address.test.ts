import { describe, expect, test } from "vitest";
import { findPeerAddress } from "../../../agent/peers/pod-address.ts";

const pod = { namespace: "xpdb-system", name: "agent-a", uid: "uid-a" };

describe("findPeerAddress()", () => {
	const found = (body: object) => ({ metadata: { uid: "uid-a" }, ...body });
	const rows: { name: string; status?: number; body: unknown; address: string | undefined }[] = [
		{ name: "is the pod's address", body: found({ status: { podIP: "10.1.0.7" } }), address: "10.1.0.7:8444" },
		{ name: "puts IPv6 into brackets", body: found({ status: { podIP: "fd00::7" } }), address: "[fd00::7]:8444" },
		{
			name: "is what the pod's annotation says",
			body: {
				metadata: { uid: "uid-a", annotations: { "xpdb.form3.tech/peer-address": "10.0.0.1:9444" } },
				status: { podIP: "10.1.0.7" },
			},
			address: "10.0.0.1:9444",
		},
		{ name: "is none while the pod has none", body: found({ status: {} }), address: undefined },
		{
			name: "is none of a replacement",
			body: { metadata: { uid: "b" }, status: { podIP: "10.1.0.7" } },
			address: undefined,
		},
		{ name: "is none of a pod that is gone", status: 404, body: {}, address: undefined },
		{ name: "is none of nonsense", body: "oops", address: undefined },
	];
	for (const { name, status = 200, body, address } of rows) {
		test(name, async () => {
			const asked: string[] = [];
			const api = {
				request: async ({ path }: { path: string }) => {
					asked.push(path);
					return { status, body };
				},
			};
			expect(await findPeerAddress(api, pod, 8444)).toBe(address);
			expect(asked).toEqual(["/api/v1/namespaces/xpdb-system/pods/agent-a"]);
		});
	}
});
