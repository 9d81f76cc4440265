import { X509Certificate } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { findKeptAuthority } from "../../../plugin/install/fleet-certificates.ts";
import type { KeyPair } from "../../../plugin/install/key-pair.ts";
import type { ClusterCertificates } from "../../../plugin/install/read-certificates.ts";
import { createAuthority } from "../../../plugin/install/sign-certificates.ts";

const now = new Date("2026-06-01T12:00:00Z");
let [own, other]: readonly KeyPair[] = [];

beforeAll(async () => {
	[own, other] = await Promise.all([createAuthority(now), createAuthority(now)]);
});

function cluster(context: string, current: KeyPair | undefined, ...trusted: readonly (KeyPair | undefined)[]) {
	const ca = trusted.map((each) => each?.certificate ?? "").join("");
	const kept: ClusterCertificates = {
		context,
		clusterId: `id-${context}`,
		ca: ca === "" ? undefined : ca,
		agent: undefined,
		authority: current && { current },
	};
	return kept;
}

const deleteIn = (context: string): string =>
	`  kubectl --context ${context} -n xpdb-system delete secret/xpdb-fleet-ca`;
const markOf = (pair: KeyPair | undefined): string =>
	new X509Certificate(pair?.certificate ?? "").fingerprint256.slice(0, 23);

function refusal(...clusters: readonly ClusterCertificates[]): unknown {
	try {
		return findKeptAuthority(clusters, "xpdb-system");
	} catch (error) {
		return error;
	}
}

describe("clusters that keep different CAs", () => {
	test("are named with each CA, who trusts it, and the command that deletes the wrong one", () => {
		expect(refusal(cluster("eu", own, own), cluster("us", other, own), cluster("ap", undefined))).toMatchObject({
			reason: "Usage",
			message: [
				"eu and us keep different CAs in Secret xpdb-fleet-ca: a fleet has one",
				`eu: ${markOf(own)}… (until 2036-05-29), trusted by eu, us`,
				`us: ${markOf(other)}… (until 2036-05-29), trusted by no member`,
			].join("\n"),
			hint: ["Delete what no member trusts, and run this again:", deleteIn("us")].join("\n"),
		});
	});

	test("leave the choice to a person where members trust all of them, or none", () => {
		const hint = [
			"Delete the one that is not the fleet's, by its fingerprint, and run this again:",
			deleteIn("eu"),
			deleteIn("us"),
		].join("\n");
		expect(refusal(cluster("eu", own), cluster("us", other))).toMatchObject({ hint });
		expect(refusal(cluster("eu", own, own, other), cluster("us", other))).toMatchObject({ hint });
	});

	test("may keep one that cannot be read: nobody trusts that", () => {
		const broken = cluster("us", { certificate: "-", key: "" }, own);
		expect(refusal(cluster("eu", own, own), broken)).toMatchObject({
			message: expect.stringContaining("us: a certificate that cannot be read, trusted by no member") as unknown,
			hint: ["Delete what no member trusts, and run this again:", deleteIn("us")].join("\n"),
		});
	});

	test("are none where all keep the same", () => {
		expect(refusal(cluster("eu", own), cluster("us", own))).toMatchObject({ context: "eu" });
		expect(refusal(cluster("eu", undefined))).toBeUndefined();
	});
});
