// Targets for the identity of callers: tokens, reviews, and certificates.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Metadata } from "@grpc/grpc-js";
import fc from "fast-check";
import { CertificateError, Certificates } from "../../../agent/tls/certificates.ts";
import { Identity } from "../../../agent/server/identity.ts";
import { createReviews } from "../../../agent/server/reviews.ts";
import { Rights } from "../../../agent/server/rights.ts";
import { createAuthority, issueAgentCertificate } from "../../../demo/machine/certificates.ts";
import { AgentProtocolError, AgentUnavailableError } from "../../../disruption/errors.ts";
import { createAgentClient, parseCertificates } from "../../../proto/credentials.ts";
import { describeMember, findMemberId } from "../../../proto/member-certificate.ts";
import { findPassedOnCaller, writePassedOnCaller } from "../../../proto/passed-on.ts";
import { shortToken, tokenWith } from "../../support/build-token.ts";
import { createAnsweringConnection } from "../answering-connection.ts";
import { attempt, attemptAsync, demandClearText } from "../clear-error.ts";
import { asyncTarget, demand, type FuzzTarget, syncTarget } from "../fuzz-target.ts";
import { edited, jsonOf } from "../json-edits.ts";
import { type Json, oddValue } from "../odd-values.ts";
import { statusObjects } from "../seed-objects.ts";
import { editedText } from "../text-edits.ts";

const tokenReview: Json = {
	kind: "TokenReview",
	status: {
		authenticated: true,
		audiences: ["xpdb-agent"],
		user: {
			username: "system:serviceaccount:xpdb-system:xpdb-operator",
			uid: "u",
			groups: ["system:authenticated"],
			extra: { "authentication.kubernetes.io/credential-id": ["JTI=1"] },
		},
	},
};
const accessReview: Json = { kind: "SubjectAccessReview", status: { allowed: true, denied: false, reason: "RBAC" } };

type Fields = Readonly<Record<string, unknown>>;
const statusOf = (body: unknown): Fields => (body as { status?: Fields } | null)?.status ?? {};

/** Returns the claims of an admitted token, which must be an object. */
function claimsIn(authorization: unknown): Fields {
	const claims: Fields = JSON.parse(
		Buffer.from(String(authorization).split(".")[1] ?? "", "base64url").toString("utf8"),
	);
	return claims;
}

const tokenTarget: FuzzTarget = {
	name: "token",
	reads: "authorization headers, and the API server's reviews of them",
	share: 1,
	open: () => {
		const header = fc.oneof(
			{ weight: 4, arbitrary: fc.constant<(string | Buffer)[]>([`Bearer ${shortToken("alice")}`]) },
			{
				weight: 2,
				arbitrary: fc.integer({ min: 0, max: 100_000 }).map((seconds) => {
					const lifetime = { iat: 1_700_000_000, exp: 1_700_000_000 + seconds };
					return [`Bearer ${tokenWith({ aud: ["xpdb-agent"], sub: "alice", ...lifetime })}`];
				}),
			},
			{
				weight: 3,
				arbitrary: fc
					.oneof(edited([{ iat: 1_700_000_000, exp: 1_700_000_600, aud: ["xpdb-agent"], sub: "alice" }]), oddValue)
					.map((claims) => [`Bearer e30.${Buffer.from(jsonOf(claims)).toString("base64url")}.c2ln`]),
			},
			{
				weight: 2,
				arbitrary: editedText(
					[`Bearer ${shortToken("alice")}`, "bearer a==", "Basic YTpi"],
					["Bearer ", " ", "=", "."],
				).map((text) => [text]),
			},
			{
				weight: 1,
				arbitrary: fc.constantFrom<(string | Buffer)[][]>(
					[],
					[`Bearer ${shortToken("alice")}`, `Bearer ${shortToken("alice")}`],
					[Buffer.from(`Bearer ${shortToken("alice")}`)],
				),
			},
		);
		const review = (seed: Json): fc.Arbitrary<Json> =>
			fc.oneof(
				{ weight: 2, arbitrary: fc.constant(seed) },
				{ weight: 3, arbitrary: edited([seed]) },
				{ weight: 1, arbitrary: oddValue },
			);
		const code = fc.oneof(
			{ weight: 6, arbitrary: fc.constant(201) },
			{ weight: 1, arbitrary: fc.constantFrom(200, 401, 403, 404, 409, 500) },
		);
		const input = fc.record({
			header,
			token: review(tokenReview),
			access: review(accessReview),
			code,
			failure: fc.constantFrom(...statusObjects),
		});
		return asyncTarget(input, async ({ header: authorization, token, access, code: status, failure }) => {
			const api = createAnsweringConnection({
				answer: ({ path }) => ({
					status,
					body: status >= 300 ? failure : path.endsWith("/tokenreviews") ? token : access,
				}),
			});
			const reviews = createReviews({ api, cluster: "eu-1" });
			const identity = new Identity({ reviews, now: () => 0 });
			const verdict = await attemptAsync(() => identity.check(authorization), [AgentUnavailableError], "eu-1");
			if (!verdict) return;
			if (verdict.kind !== "authenticated") return demandClearText(verdict.reason);
			const [text] = authorization;
			demand(
				authorization.length === 1 && typeof text === "string" && /^bearer \S+$/i.test(text),
				"ALLOWED without a token",
			);
			const { iat, exp } = claimsIn(text);
			demand(
				typeof exp === "number" && exp - Number(iat) <= 3_600,
				"ALLOWED with a token that lives longer than an hour",
			);
			const { authenticated, audiences, user } = statusOf(token);
			demand(status === 201 && authenticated === true, "ALLOWED although nobody knows the token");
			demand(Array.isArray(audiences) && audiences.includes("xpdb-agent"), "ALLOWED with a token for others");
			const { username } = (user ?? {}) as Fields;
			demand(typeof username === "string" && username !== "", "ALLOWED without a user");
			const rights = new Rights({ reviews, now: () => 0, cluster: "eu-1" });
			const refusal = await attemptAsync(
				async () => ({ why: await rights.refusal(verdict.caller, { namespace: "shop", name: "web" }) }),
				[AgentUnavailableError],
				"eu-1",
			);
			if (!refusal) return;
			if (refusal.why !== undefined) return demandClearText(refusal.why);
			const { allowed, denied } = statusOf(access);
			demand(allowed === true && denied !== true, "ALLOWED although the user may not");
		});
	},
};

const serverName = "xpdb-agent.xpdb-system.svc";
const pemWords = [
	"-----BEGIN CERTIFICATE-----\n",
	"-----END CERTIFICATE-----\n",
	"-----BEGIN PRIVATE KEY-----\n",
	"\n",
	"MII",
	"AAAA",
	"==",
];

const certificateTarget: FuzzTarget = {
	name: "certificate",
	reads: "certificates, keys and bundles in PEM, by agents and their clients",
	share: 0.1,
	open: async () => {
		const authority = await createAuthority("xpdb-fleet");
		const { certificate, key } = await issueAgentCertificate(authority, { clusterId: "c1" });
		const { certificate: ca } = authority;
		const folder = mkdtempSync(join(tmpdir(), "xpdb-fuzz-"));
		const paths = {
			certificateFile: join(folder, "tls.crt"),
			privateKeyFile: join(folder, "tls.key"),
			caFile: join(folder, "ca.crt"),
		};
		const bundles = editedText([ca, ca + ca, `# our CA\n${ca}`, certificate], [...pemWords, ca]);
		const input = fc.record({
			ca: bundles,
			which: fc.constantFrom("client", "client", "agent certificate", "agent key", "agent ca"),
			pem: editedText([certificate, key, ca, certificate + ca], pemWords),
		});
		return {
			...syncTarget(input, ({ ca: bundle, which, pem }) => {
				attempt(() => parseCertificates(bundle, "the fleet's CA"), [AgentProtocolError], "the fleet's CA");
				if (which === "client") {
					const identity = { kind: "token", token: async () => "abc" } as const;
					const options = { address: "127.0.0.1:1", serverName, ca: bundle, identity };
					attempt(() => createAgentClient(options), [AgentProtocolError], "CA")?.close();
					return;
				}
				writeFileSync(paths.certificateFile, which === "agent certificate" ? pem : certificate);
				writeFileSync(paths.privateKeyFile, which === "agent key" ? pem : key);
				writeFileSync(paths.caFile, which === "agent ca" ? pem : ca);
				const problems: Error[] = [];
				const open = () =>
					new Certificates({ files: paths, serverName, report: (problem) => void problems.push(problem) });
				attempt(open, [CertificateError], folder);
				for (const { message } of problems) demandClearText(message, folder);
			}),
			close: () => rmSync(folder, { recursive: true }),
		};
	},
};

const memberTarget: FuzzTarget = {
	name: "member",
	reads: "the names in a certificate, and on whose behalf a peer says that it calls",
	share: 1,
	open: () => {
		const uri = "URI:xpdb://cluster/";
		const names = editedText(
			[`DNS:a.svc, ${uri}c1, IP Address:127.0.0.1`, `${uri}c1, ${uri}c2`, `DNS:"a, ${uri}c1"`],
			[uri, ", ", '"', "\\", "c1", "DNS:"],
		);
		const input = fc.record({ names, user: editedText(["alice", "a%20b", "%E0%A4%A"], ["%", "é"]) });
		return syncTarget(input, ({ names: text, user }) => {
			const id = findMemberId(text);
			if (id !== undefined) {
				demand(/^[A-Za-z0-9._-]+$/.test(id), `ALLOWED as ${JSON.stringify(id)}`);
				demand(text.includes(`${uri}${id}`), "ALLOWED under a name that is not in the certificate");
				demand(
					!text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").includes(`, ${uri}`) || !text.startsWith(uri),
					"ALLOWED as two",
				);
			}
			demandClearText(describeMember(id === undefined ? undefined : `${uri}${id}`));
			const metadata = new Metadata();
			writePassedOnCaller(metadata, { user, tokenId: user });
			const written = findPassedOnCaller(metadata);
			demand((written?.user ?? "") === user.toWellFormed().slice(0, 253).toWellFormed(), "Another caller arrives");
			const raw = new Metadata();
			if (/^[\x20-\x7e]*$/.test(user)) raw.set("xpdb-caller-user", user);
			demand((findPassedOnCaller(raw)?.user.length ?? 0) <= 253, "A caller's name is too long");
		});
	},
};

export const identityTargets: readonly FuzzTarget[] = [tokenTarget, certificateTarget, memberTarget];
