// Counts budget shop/db over a simulated API server. The test decides what the agent's view has seen.
import { countUnder } from "../../../agent/leases/count.ts";
import { budgetViewOf, ObjectStore } from "../../../agent/views/object-views.ts";
import { PodStore } from "../../../agent/views/pod-view.ts";
import type { MemberBudget, PodReference } from "../../../disruption/budget/cluster.ts";
import { acquired, annotationsOf, leaseName, namespaceLabel } from "../../../disruption/lease/lease.ts";
import type { LeaseState } from "../../../disruption/lease/lease-text.ts";
import type { PodRecord } from "../../../disruption/budget/pod.ts";
import { clusterApi, SimulatedApiServer } from "../../explore/simulated-api.ts";
import { budget, labels, memberBudget, newSpec, selector } from "../../support/build-count.ts";
import { newLease } from "../../support/build-lease.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import type { Interception } from "../../support/simulated-agent.ts";

/** Creates a StatefulSet of three healthy pods, db-0 to db-2, and a live view of them. */
export function simulateCount() {
	const clock = createManualClock();
	const server = new SimulatedApiServer({ clusterId: "eu" });
	const controller = { apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "uid-of-db" };
	server.putController({ ...controller, namespace: "shop", replicas: 3 });
	server.putBudget(memberBudget(newSpec({ maxUnavailable: 1 })));
	const [db0, db1, db2] = ["db-0", "db-1", "db-2"].map((name) =>
		server.createPod({ name, namespace: "shop", labels, controller }),
	) as [PodRecord, PodRecord, PodRecord];
	const requests: string[] = [];
	const faults: { before: Interception } = { before: () => undefined };
	const api = clusterApi(server, async (call) => {
		await faults.before(call);
		requests.push(`${call.verb} ${call.resource}`);
		return call.execute();
	});
	const pods = new PodStore({ clock });
	const budgets = new ObjectStore<MemberBudget>({
		clock,
		keyOf: ({ name }) => `${name.namespace}/${name.name}`,
		namespaceOf: ({ name }) => name.namespace,
	});
	const now = () => String(server.revision);
	pods.replace(server.pods(), now());
	budgets.replace([...server.budgets.values()], now());
	const live = () => [pods, budgets].forEach((sink) => sink.signOfLife(clock.now()));
	live();
	/** The result of the last comparison of the budgets with a list. */
	const compared = { isRecent: true, wanted: () => undefined };
	const options = { api, pods, budgets: budgetViewOf(budgets, compared), cluster: "eu-1" };
	/** Returns an acquired Lease whose `observed` the view has reached. */
	const lease = (state: Partial<LeaseState> = {}) =>
		acquired(newLease({ resourceVersion: now(), state: { observed: pods.resourceVersion, ...state } }), {
			holder: "drain-7f",
			nonce: "n",
			durationMs: 10_000,
		});
	const otherLease = (name: string, state: Partial<LeaseState>) => {
		const other = newLease({ budget: { namespace: "shop", name }, state });
		return server.createLease({
			name: leaseName(other.budget),
			labels: { [namespaceLabel]: "shop" },
			annotations: annotationsOf(other),
			spec: {},
		});
	};
	const count = async (state: Partial<LeaseState> = {}, candidates: readonly PodReference[] = []) =>
		countUnder(Promise.resolve(lease(state)), { budget, selector, candidates }, options);
	const see = () => {
		for (const event of server.podEvents) pods.apply(event);
	};
	return {
		clock,
		server,
		controller,
		db0,
		db1,
		db2,
		requests,
		faults,
		pods,
		budgets,
		compared,
		options,
		lease,
		otherLease,
		count,
		see,
		now,
		live,
	};
}

export type CountWorld = ReturnType<typeof simulateCount>;
