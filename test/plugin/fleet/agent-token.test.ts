import { describe, expect, test } from "vitest";
import { StepError } from "../../../plugin/fleet/access-step.ts";
import { createTokenIssuer } from "../../../plugin/fleet/agent-token.ts";
import { ApiError } from "../../../plugin/kubernetes/api-error.ts";
import type { KubeContext } from "../../../plugin/kubernetes/kube-context.ts";
import { newClient, newContext, notFound } from "../../support/build-context.ts";

const rulesPath = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
const tokenPath = (account: string) => `/api/v1/namespaces/xpdb-system/serviceaccounts/${account}/token`;
const forbidden = () => new ApiError("serviceaccounts/token is forbidden", { code: 403, reason: "Forbidden" });
const ruleFor = (...resourceNames: string[]) => ({
	verbs: ["create"],
	apiGroups: [""],
	resources: ["serviceaccounts/token"],
	resourceNames,
});

function newPerson(accounts: readonly string[], rules: readonly object[] = [], account?: string) {
	const asked: string[] = [];
	const bodies: unknown[] = [];
	const client = newClient({
		post(path, body) {
			asked.push(path);
			bodies.push(body);
			if (path === rulesPath) return { status: { resourceRules: rules } };
			const name = accounts.find((each) => path === tokenPath(each));
			if (name === undefined) throw forbidden();
			return { status: { token: `token-of-${name}` } };
		},
	});
	const context: KubeContext = { ...newContext("eu", client), agents: { namespace: "xpdb-system", account } };
	return { issue: createTokenIssuer(context), asked, bodies };
}

describe("createTokenIssuer()", () => {
	test("takes the operator's account where it may, and asks for nothing else", async () => {
		const { issue, asked, bodies } = newPerson(["xpdb-operator", "team-shop"], [ruleFor("team-shop")]);
		expect(await issue()).toEqual({ token: "token-of-xpdb-operator", lifetimeMs: 600_000 });
		expect(asked).toEqual([tokenPath("xpdb-operator")]);
		expect(bodies).toMatchObject([{ spec: { audiences: ["xpdb-agent"], expirationSeconds: 600 } }]);
	});

	test("takes the account that was named, and no other", async () => {
		const { issue, asked } = newPerson(["xpdb-operator", "team-shop"], [], "team-shop");
		expect((await issue()).token).toBe("token-of-team-shop");
		expect(asked).toEqual([tokenPath("team-shop")]);
		const stranger = newPerson(["xpdb-operator"], [], "team-web");
		await expect(stranger.issue()).rejects.toThrow(
			"cannot ask for a token of ServiceAccount xpdb-system/team-web: serviceaccounts/token is forbidden",
		);
		expect(stranger.asked).toEqual([tokenPath("team-web")]);
	});

	test("finds the only account that is left to a person, once", async () => {
		const { issue, asked, bodies } = newPerson(["team-shop"], [ruleFor("team-shop", "xpdb-operator")]);
		expect((await issue()).token).toBe("token-of-team-shop");
		expect((await issue()).token).toBe("token-of-team-shop");
		expect(asked).toEqual([tokenPath("xpdb-operator"), rulesPath, tokenPath("team-shop"), tokenPath("team-shop")]);
		expect(bodies[1]).toMatchObject({ kind: "SelfSubjectRulesReview", spec: { namespace: "xpdb-system" } });
	});

	test("lets a person with several choose", async () => {
		const { issue } = newPerson(["team-shop", "team-web"], [ruleFor("team-web"), ruleFor("team-shop", "team-web")]);
		await expect(issue()).rejects.toBeInstanceOf(StepError);
		await expect(issue()).rejects.toThrow(
			"several ServiceAccounts in namespace xpdb-system: name one of team-shop, team-web with --agent-account",
		);
	});

	test("names the missing right where there is none", async () => {
		const others = [
			{ ...ruleFor("secret"), resources: ["secrets"] },
			{ ...ruleFor("reader"), verbs: ["get"] },
			{ ...ruleFor("other"), apiGroups: ["example.com"] },
			{ verbs: ["create"], apiGroups: [""], resources: ["pods"] },
		];
		const { issue } = newPerson([], others);
		await expect(issue()).rejects.toThrow(
			/^cannot ask for a token of ServiceAccount xpdb-system\/xpdb-operator: .*'kubectl xpdb check --context eu' has the commands/,
		);
	});

	test("takes no other failure for a missing right", async () => {
		const down = new ApiError("etcd is down", { code: 500, reason: "InternalError" });
		const asked: string[] = [];
		const client = newClient({
			post(path) {
				asked.push(path);
				throw down;
			},
		});
		await expect(createTokenIssuer(newContext("eu", client))()).rejects.toThrow("etcd is down");
		expect(asked).toEqual([tokenPath("xpdb-operator")]);
	});

	test("goes on with the own account where the operator's is not there", async () => {
		const client = newClient({
			post(path) {
				if (path === tokenPath("xpdb-operator")) throw notFound('serviceaccounts "xpdb-operator" not found');
				return path === rulesPath
					? { status: { resourceRules: [ruleFor("team-shop")] } }
					: { status: { token: "token-of-team-shop" } };
			},
		});
		expect((await createTokenIssuer(newContext("eu", client))()).token).toBe("token-of-team-shop");
	});
});
