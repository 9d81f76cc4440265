import { expect, test } from "vitest";
import type { ClusterCertificates } from "../../../plugin/install/read-certificates.ts";
import { changeAuthority, type RotationWorld } from "../../../plugin/install/rotate-certificates.ts";
import { createAuthority, signAgentCertificate } from "../../../plugin/install/sign-certificates.ts";

const date = new Date("2026-06-01T12:00:00Z");

test("no CA gets to the others that a member lists only after the lists were compared", async () => {
	const [old, foreign] = [await createAuthority(date), await createAuthority(date)];
	const listed = await Promise.all(
		["eu", "us"].map(async (context): Promise<ClusterCertificates> => {
			const clusterId = `id-${context}`;
			const asked = { commonName: context, dnsName: "xpdb-agent.xpdb-system.svc", uri: `xpdb://cluster/${clusterId}` };
			const agent = await signAgentCertificate(old, { ...asked, now: date });
			const authority = context === "us" ? { current: old } : undefined;
			return { context, clusterId, ca: old.certificate, agent, authority };
		}),
	);
	const written = new Map<string, string>();
	let isCompared = false;
	const world: RotationWorld = {
		read: async () =>
			listed.map((each) =>
				each.context === "eu" && isCompared ? { ...each, ca: old.certificate + foreign.certificate } : each,
			),
		async write(context, object) {
			if (object.metadata.name === "xpdb-ca") written.set(context, JSON.stringify(object["data"]));
		},
		removeAuthority: async () => undefined,
		async recordUse() {
			isCompared = true;
		},
		agents: async () => [],
		problem: () => undefined,
		pause: async () => undefined,
		now: () => 0,
	};
	const change = changeAuthority(world, {
		agentNamespace: "xpdb-system",
		authority: undefined,
		date,
		timeoutMs: -1,
		tell: () => undefined,
		mayGoOn: async () => true,
	});
	await expect(change).rejects.toThrow("all agents should trust both CAs");
	expect([...written.keys()]).toEqual(["eu", "us"]);
	const [, body = ""] = foreign.certificate.split("\n");
	expect(written.get("us")).not.toContain(body);
});
