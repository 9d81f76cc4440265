// A member of the fleet that can be asked by more than one way: through its own agents, or through another member's,
// which passes the call on. A call that got no answer fails, as everywhere; only the next one goes another way.
import type { BudgetName } from "../disruption/budget.ts";
import type {
	Acquisition,
	AcquireOptions,
	AcquireOutcome,
	AcquireRequest,
	CommitOutcome,
	Count,
	Grant,
} from "../disruption/cluster.ts";
import { AgentUnavailableError } from "../disruption/errors.ts";
import type { AgentCluster, AgentDescription, BudgetList, LookRequest } from "../proto/agent-cluster.ts";

export class RoutedCluster implements AgentCluster {
	readonly id: string;
	readonly name: string;
	readonly #routes: readonly AgentCluster[];
	#current = 0;

	/** `routes`: the best one first, at least one, all to the same cluster. */
	constructor({
		id,
		name,
		routes,
	}: { readonly id: string; readonly name: string; readonly routes: readonly AgentCluster[] }) {
		this.id = id;
		this.name = name;
		this.#routes = routes;
	}

	async acquire(request: AcquireRequest, options: AcquireOptions): Promise<AcquireOutcome> {
		return this.#ask((route) => route.acquire(request, options));
	}

	async count(acquisition: Acquisition, request: AcquireRequest): Promise<Count> {
		return this.#ask((route) => route.count(acquisition, request));
	}

	async renew(acquisition: Acquisition): Promise<void> {
		return this.#ask((route) => route.renew(acquisition));
	}

	async commit(acquisition: Acquisition, grants: readonly Grant[]): Promise<CommitOutcome> {
		return this.#ask((route) => route.commit(acquisition, grants));
	}

	async release(acquisition: Acquisition): Promise<void> {
		return this.#ask((route) => route.release(acquisition));
	}

	async confirm(budget: BudgetName, ids: readonly string[]): Promise<boolean> {
		return this.#ask((route) => route.confirm(budget, ids));
	}

	async cancel(budget: BudgetName, ids: readonly string[], options: { readonly sent: boolean }): Promise<void> {
		return this.#ask((route) => route.cancel(budget, ids, options));
	}

	async describe(): Promise<AgentDescription> {
		return this.#ask((route) => route.describe());
	}

	async listBudgets(namespaces: readonly string[]): Promise<BudgetList> {
		return this.#ask((route) => route.listBudgets(namespaces));
	}

	async look(request: LookRequest): Promise<Count> {
		return this.#ask((route) => route.look(request));
	}

	async #ask<T>(call: (route: AgentCluster) => Promise<T>): Promise<T> {
		const index = this.#current;
		const route = this.#routes[index];
		if (!route) throw new AgentUnavailableError(`Cannot reach cluster "${this.name}": no way leads there`, this.name);
		try {
			return await call(route);
		} catch (error) {
			// Many calls may fail together; the first one moves on.
			if (error instanceof AgentUnavailableError && this.#current === index) {
				this.#current = (index + 1) % this.#routes.length;
			}
			throw error;
		}
	}
}
