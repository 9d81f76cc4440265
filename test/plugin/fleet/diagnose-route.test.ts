import { describe, expect, test } from "vitest";
import { AgentUnavailableError, type Silent } from "../../../disruption/errors.ts";
import { diagnoseRoute } from "../../../plugin/fleet/diagnose-route.ts";
import { createMemberClient } from "../../../proto/member-client.ts";
import { ApiError, ConnectionError } from "../../../plugin/kubernetes/api-error.ts";
import { FakeFleet } from "../../support/fake-fleet.ts";

const idOf = ({ id, name }: { readonly id: string; readonly name: string }) => ({ id, name });

const budget = { namespace: "shop", name: "db" };

/** Returns the error of a call whose agent fails in this way, behind an API server with this answer. */
async function failure(
	{ silent, told = false }: { readonly silent?: Silent; readonly told?: boolean },
	answer: () => Promise<never>,
): Promise<AgentUnavailableError> {
	const [route] = new FakeFleet(["us"]).members;
	if (!route) throw new Error("no member");
	route.confirm = async () => {
		throw new AgentUnavailableError("cannot get an answer to Confirm", "ap", { silent, told });
	};
	const cluster = createMemberClient({
		...idOf(route),
		routes: [
			{
				calls: route,
				diagnose: diagnoseRoute({ cluster: "us", context: { name: "prod-us", client: { get: answer } } }),
			},
		],
	});
	const error: unknown = await cluster.confirm(budget, []).catch((reason: unknown) => reason);
	if (!(error instanceof AgentUnavailableError)) throw new Error("it did not fail as it should");
	return error;
}

const refuses = (error: Error) => async (): Promise<never> => {
	throw error;
};

describe("a call without an answer", () => {
	test("is blamed on the agent where the API server before it answers, be it with a refusal", async () => {
		const error = await failure({ silent: "unknown" }, refuses(new ApiError("forbidden", { code: 403 })));
		expect(error).toMatchObject({ silent: "agent", cluster: "us" });
		expect(error.message).toBe(
			'cannot get an answer to Confirm (asked through the agents of context "prod-us", whose API server answers)',
		);
	});

	test("is blamed on the API server, or the network before it, where that says nothing either", async () => {
		const problem = new ConnectionError("https://us:6443", new Error("connect ETIMEDOUT"));
		const error = await failure({ silent: "network" }, refuses(problem));
		expect(error.silent).toBe("apiServer");
		expect(error.message).toBe(
			'cannot reach the agents of cluster "us": the API server of context "prod-us" ' +
				"does not answer (connect ETIMEDOUT). It may hang, or the network may be down",
		);
	});

	test("stays as it is where the agent said itself who is silent, or that it is not", async () => {
		const never = refuses(new Error("nobody should ask"));
		const message = "cannot get an answer to Confirm";
		for (const silent of ["apiServer", "network", "unknown"] as const) {
			expect(await failure({ silent, told: true }, never)).toMatchObject({ silent, cluster: "ap", message });
		}
		expect(await failure({}, never)).toMatchObject({ silent: undefined, cluster: "ap", message });
	});
});

test("calls that fail together ask the API server once", async () => {
	const [route] = new FakeFleet(["us"]).members;
	if (!route) throw new Error("no member");
	route.isDown = true;
	route.confirm = async () => {
		throw new AgentUnavailableError("cannot get an answer to Confirm", "us", { silent: "unknown" });
	};
	let asked = 0;
	const get = async (): Promise<never> => {
		asked += 1;
		throw new ApiError("forbidden", { code: 403 });
	};
	const cluster = createMemberClient({
		...idOf(route),
		routes: [
			{ calls: route, diagnose: diagnoseRoute({ cluster: "us", context: { name: "prod-us", client: { get } } }) },
		],
	});
	await Promise.allSettled([1, 2, 3].map(() => cluster.confirm(budget, [])));
	expect(asked).toBe(1);
});
