// Lets parallel counts of many budgets share their reads. Equal requests of one turn of the event loop become one request, sent after that
// turn. So each answer is as new as if it had been requested alone.
import { formatSelector } from "../../disruption/budget/selector.ts";
import { controllerKey } from "../../disruption/lease/remembered-controllers.ts";
import type { ClusterApi } from "./cluster-api.ts";

type NextTurn = (run: () => void) => void;

export function withSharedReads(api: ClusterApi, nextTurn: NextTurn = setImmediate): ClusterApi {
	const share = <Q, A>(keyOf: (question: Q) => string, ask: (question: Q) => Promise<A>) =>
		shareReads(keyOf, ask, nextTurn);
	const scales = share(
		([controller, namespace]: Parameters<ClusterApi["getScale"]>) => `${namespace} ${controllerKey(controller)}`,
		([controller, namespace]) => api.getScale(controller, namespace),
	);
	const budgets = share(
		({ namespace, name }: Parameters<ClusterApi["getBudget"]>[0]) => `${namespace}/${name}`,
		(budget) => api.getBudget(budget),
	);
	const lists = share(
		(namespace: Parameters<ClusterApi["listBudgets"]>[0]) => namespace ?? "",
		(namespace) => api.listBudgets(namespace),
	);
	const workloads = share(
		(namespace: string) => namespace,
		(namespace) => api.listWorkloads(namespace),
	);
	const pods = share(
		([namespace, selector]: Parameters<ClusterApi["listSelectedPods"]>) => `${namespace} ${formatSelector(selector)}`,
		([namespace, selector]) => api.listSelectedPods(namespace, selector),
	);
	const fleet = share(
		() => "",
		() => api.getFleet(),
	);
	return {
		...api,
		getScale: (controller, namespace) => scales([controller, namespace]),
		getBudget: budgets,
		listBudgets: (namespace) => lists(namespace),
		listWorkloads: workloads,
		listSelectedPods: (namespace, selector) => pods([namespace, selector]),
		getFleet: () => fleet(undefined),
	};
}

function shareReads<Q, A>(
	keyOf: (question: Q) => string,
	ask: (question: Q) => Promise<A>,
	nextTurn: NextTurn,
): (question: Q) => Promise<A> {
	const waiting = new Map<string, Promise<A>>();
	return (question) => {
		const key = keyOf(question);
		const known = waiting.get(key);
		if (known) return known;
		const answer = new Promise<void>((resolve) => {
			nextTurn(resolve);
		}).then(() => {
			waiting.delete(key);
			return ask(question);
		});
		waiting.set(key, answer);
		return answer;
	};
}
