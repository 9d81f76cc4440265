// Requests the short-lived token that authenticates the plugin to the agents, and chooses its ServiceAccount in the anchor. An account that
// the user named comes first, then xpdb-operator, then the only other account for which this user may request tokens.
import { tokenAudience } from "../../disruption/agent-names.ts";
import type { IssuedToken } from "../../proto/credentials.ts";
import { ApiError } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { StepError, step } from "./access-step.ts";

export const operatorAccount = "xpdb-operator";
/** The shortest lifetime that the API server grants. */
const tokenLifetimeSeconds = 600;

interface TokenRequestAnswer {
	readonly status?: { readonly token?: string };
}

interface RulesReview {
	readonly status?: {
		readonly resourceRules?: readonly {
			readonly verbs?: readonly string[];
			readonly apiGroups?: readonly string[];
			readonly resources?: readonly string[];
			readonly resourceNames?: readonly string[];
		}[];
	};
}

/** The returned function requests a new token at each call. It rejects with StepError if the user has to fix something. */
export function createTokenIssuer(context: KubeContext): () => Promise<IssuedToken> {
	const { namespace, account } = context.agents;
	// Found once, so that agents see the whole run under one account.
	let found = account;
	return async () => {
		if (found !== undefined) return issue(found);
		try {
			const token = await requestToken(context, operatorAccount);
			found = operatorAccount;
			return token;
		} catch (error) {
			const missing = error instanceof ApiError && (error.code === 403 || error.code === 404);
			const own = missing ? await findOwnAccount(context) : undefined;
			if (own === undefined) return step(context, actionOf(operatorAccount), Promise.reject(error));
			const token = await issue(own);
			found = own;
			return token;
		}
	};

	function issue(name: string): Promise<IssuedToken> {
		return step(context, actionOf(name), requestToken(context, name));
	}

	function actionOf(name: string): string {
		return `ask for a token of ServiceAccount ${namespace}/${name}`;
	}
}

async function requestToken({ client, agents }: KubeContext, account: string): Promise<IssuedToken> {
	const answer = await client.post<TokenRequestAnswer>(
		`/api/v1/namespaces/${agents.namespace}/serviceaccounts/${account}/token`,
		{
			apiVersion: "authentication.k8s.io/v1",
			kind: "TokenRequest",
			spec: { audiences: [tokenAudience], expirationSeconds: tokenLifetimeSeconds },
		},
	);
	const token = answer.status?.token;
	if (typeof token !== "string" || token === "") throw new StepError("the API server issued an empty token");
	return { token, lifetimeMs: tokenLifetimeSeconds * 1_000 };
}

/**
 * Returns the only other account for which this user may request tokens by name; undefined if there is none. Throws StepError if there are
 * several.
 */
async function findOwnAccount(context: KubeContext): Promise<string | undefined> {
	const { namespace } = context.agents;
	const review = await step(
		context,
		`ask which accounts of namespace ${namespace} are yours`,
		context.client.post<RulesReview>("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
			apiVersion: "authorization.k8s.io/v1",
			kind: "SelfSubjectRulesReview",
			spec: { namespace },
		}),
	);
	const names = new Set(
		(review.status?.resourceRules ?? [])
			.filter(
				({ verbs = [], apiGroups = [], resources = [] }) =>
					verbs.some((verb) => verb === "create" || verb === "*") &&
					apiGroups.some((group) => group === "" || group === "*") &&
					resources.some((resource) => ["serviceaccounts/token", "*/token", "*"].includes(resource)),
			)
			.flatMap(({ resourceNames = [] }) => resourceNames)
			.filter((name) => name !== operatorAccount),
	);
	const [only, ...more] = [...names].toSorted();
	if (more.length === 0) return only;
	throw new StepError(
		`you may ask for tokens of several ServiceAccounts in namespace ${namespace}: name one of ${[only, ...more].join(", ")} with --agent-account`,
	);
}
