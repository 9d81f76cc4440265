// A member of the fleet that can be asked by more than one way: through its own agents, or through another member's,
// which passes the call on. A call that got no answer fails, as everywhere; only the next one goes another way. Questions that
// come in crowds (a look for each budget of a table, a confirm for each pod of a node) go a few at a time: agents refuse who
// sends more at once than they can read.
import type { BudgetName } from "../../disruption/budget.ts";
import type {
	AcquireOptions,
	AcquireOutcome,
	AcquireRequest,
	Acquisition,
	CommitOutcome,
	Count,
	Grant,
} from "../../disruption/cluster.ts";
import { AgentUnavailableError } from "../../disruption/errors.ts";
import type { AgentCluster, AgentDescription, BudgetList, LookRequest } from "../../proto/agent-cluster.ts";

/** An agent reads and lines up 100 of one caller, and with one context the questions to all members go to one agent. */
const questionsAtOnce = 24;

export class RoutedCluster implements AgentCluster {
	readonly id: string;
	readonly name: string;
	readonly #routes: readonly AgentCluster[];
	readonly #waiting: (() => void)[] = [];
	#asking = 0;
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
		return this.#askInTurn((route) => route.confirm(budget, ids));
	}

	async cancel(budget: BudgetName, ids: readonly string[], options: { readonly sent: boolean }): Promise<void> {
		return this.#askInTurn((route) => route.cancel(budget, ids, options));
	}

	async describe(): Promise<AgentDescription> {
		return this.#askInTurn((route) => route.describe());
	}

	async listBudgets(namespaces: readonly string[]): Promise<BudgetList> {
		return this.#askInTurn((route) => route.listBudgets(namespaces));
	}

	async look(request: LookRequest): Promise<Count> {
		return this.#askInTurn((route) => route.look(request));
	}

	async #askInTurn<T>(call: (route: AgentCluster) => Promise<T>): Promise<T> {
		if (this.#asking >= questionsAtOnce) {
			const { promise, resolve } = Promise.withResolvers<void>();
			this.#waiting.push(resolve);
			await promise;
		} else this.#asking += 1;
		try {
			return await this.#ask(call);
		} finally {
			// The next one takes the place over.
			const next = this.#waiting.shift();
			if (next) next();
			else this.#asking -= 1;
		}
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
