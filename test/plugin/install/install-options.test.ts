import { describe, expect, test } from "vitest";
import { parseCommandLine } from "../../../plugin/cli.ts";
import { readInstallOptions } from "../../../plugin/install/install-options.ts";
import { collectStreams } from "../../support/collected-streams.ts";

const digest = "0a".repeat(32);

async function read(...flags: readonly string[]) {
	const parsed = await parseCommandLine(["install", ...flags]);
	if (parsed.kind !== "command") throw new Error("the line is no command");
	return readInstallOptions(parsed.input, collectStreams().stderr);
}

describe("readInstallOptions()", () => {
	test("reads what was typed", async () => {
		const options = await read(
			`--image=r.example.com:5000/a/agent:0.1@sha256:${digest}`,
			"--image-pull-secret=login",
			"--operators=sre",
			"--operators=night, shift",
			"--operators=cn=sre,ou=ops=",
			"--operators=oidc:shop=team-shop:shop,shop-test",
			"--operators=cn=shop,ou=teams=team-shop:shop,shop-test",
			"--address=eu=eu:8444",
			"--address=arn:x/us=",
			"--address=ap=[2001:db8::7]:8444",
			"--expose=loadbalancer:gke",
			"--expose=eu=nodeport",
			"--expose-annotation=us=a.b/c=d,e",
			"--timeout=2m",
			"-y",
		);
		expect(options).toMatchObject({
			dryRun: "none",
			image: `r.example.com:5000/a/agent:0.1@sha256:${digest}`,
			agentSettings: { texts: { imagePullSecrets: ["login"] } },
			operators: {
				groups: ["sre", "night, shift", "cn=sre,ou=ops"],
				teams: [{ account: "team-shop", groups: ["oidc:shop", "cn=shop,ou=teams"], namespaces: ["shop", "shop-test"] }],
			},
			timeoutMs: 120_000,
			assumeYes: true,
			forceConflicts: false,
			certificates: { mode: "create" },
			expose: {
				kinds: ["loadbalancer:gke", "eu=nodeport"],
				classes: [],
				annotations: ["us=a.b/c=d,e"],
				sources: [],
			},
		});
		expect([...options.addresses]).toEqual([
			["eu", "eu:8444"],
			["arn:x/us", ""],
			["ap", "[2001:db8::7]:8444"],
		]);
	});

	for (const image of [
		"agent",
		"xpdb-agent:0.1.0",
		"localhost:5000/agent",
		"registry.example.com/team_a/x--y.z/agent:V1_x-2",
		"[fd00::1]:5000/agent",
		`agent@sha256:${digest}`,
	]) {
		test(`takes the image ${image.slice(0, 40)}`, async () => {
			expect((await read(`--image=${image}`)).image).toBe(image);
		});
	}

	const refused = [
		{ flags: ["--image=a b"], says: '--image is not a valid image name: "a b"' },
		{ flags: ["--image="], says: '--image is not a valid image name: ""' },
		{ flags: ["--image=agent@sha256:abc"], says: "--image is not a valid image name" },
		{ flags: ["--image=example.com/UPPER:1"], says: "--image is not a valid image name" },
		{ flags: ["--image=Agent"], says: "--image is not a valid image name" },
		{ flags: ["--image=a/-b"], says: "--image is not a valid image name" },
		{ flags: ["--image=a:"], says: "--image is not a valid image name" },
		{ flags: ["--image=https://example.com/a"], says: "--image is not a valid image name" },
		{ flags: ["--image=a@sha256:abc@sha256:abc"], says: "--image is not a valid image name" },
		{ flags: ["--agent-affinity=eu=/nope/affinity.yaml"], says: "cannot read the file of --agent-affinity" },
		{ flags: ["--agent-affinity=package.json"], says: '--agent-affinity: "package.json" is not an affinity' },
		{ flags: ["--operators="], says: "--operators has a name that is not a group" },
		{ flags: ["--operators==team-shop:shop"], says: "--operators has a name that is not a group" },
		{
			flags: ["--operators=cn=sre,ou=ops"],
			says: '--operators is neither GROUP nor GROUP=ACCOUNT:NAMESPACE,...: "cn=sre,ou=ops"',
		},
		{ flags: ["--operators=a=a:b:c"], says: "--operators is neither GROUP nor GROUP=ACCOUNT:NAMESPACE" },
		{ flags: ["--operators=a=A:shop"], says: '--operators names an account that none can have: "A"' },
		{ flags: ["--operators=a=xpdb-agent:shop"], says: "--operators names xpdb-agent, which is not a team's account" },
		{ flags: ["--operators=a=a:shop,"], says: '--operators names a namespace that none can have: ""' },
		{
			flags: ["--operators=a=team:shop", "--operators=b=team:web"],
			says: '--operators gives account "team" different namespaces',
		},
		{ flags: ["--address=eu.example.com:8444"], says: "--address is not MEMBER=HOST:PORT" },
		{
			flags: ["--address=eu=fd00::7:8444"],
			says: '--address is not MEMBER=HOST:PORT: "eu=fd00::7:8444": write an IPv6 address as [ADDRESS]:PORT',
		},
		{
			flags: ["--address=eu=[10.0.0.7]:8444"],
			says: '--address has no IPv6 address in brackets: "eu=[10.0.0.7]:8444"',
		},
		{ flags: ["--address=eu=[fd00:::7]:8444"], says: "--address has no IPv6 address in brackets" },
		{ flags: ["--address=eu=a:1", "--address=eu=b:1"], says: '--address names "eu" twice' },
		{ flags: ["-o", "json", "--dry-run=client"], says: "--output must be 'yaml'" },
		{ flags: ["-o", "yaml"], says: "--output and --output-dir show the objects without applying them" },
		{ flags: ["--output-dir=x", "--dry-run=server"], says: "--output and --output-dir show the objects" },
		{ flags: ["--certs=mine"], says: "--certs is one of create, existing, cert-manager" },
		{ flags: ["--ca-key=x"], says: "cannot read the file of --ca-key" },
		{ flags: ["--cert-issuer=Issuer/x"], says: "--cert-issuer is for --certs=cert-manager" },
		{
			flags: ["--certs=cert-manager", "--cert-issuer=x"],
			says: "--cert-issuer is neither Issuer/NAME nor ClusterIssuer/NAME",
		},
	];
	test.each(refused)("refuses $flags", async ({ flags, says }) => {
		await expect(read(...flags)).rejects.toThrow(says);
	});
});
