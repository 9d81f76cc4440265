// Updates of a watch of budgets as messages and back, as strict as wire.ts.
import type { BudgetsUpdate, WatchedBudget } from "./agent-cluster.ts";
import { required } from "./fields.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";
import { budgetNameMessage, readBudgetName } from "./wire.ts";
import { budgetMessage, countMessage, readBudget, readCount } from "./wire-count.ts";

export function updateMessage(
	clusterId: string,
	{ changed, gone, complete, unknown }: BudgetsUpdate,
): wire.WatchBudgetsResponse {
	return {
		clusterId,
		changed: changed.map(watchedMessage),
		gone: gone.map(budgetNameMessage),
		complete,
		unknown,
	};
}

export function readUpdate({ changed, gone, complete, unknown }: wire.WatchBudgetsResponse): BudgetsUpdate {
	return {
		changed: changed.map((watched, index) => readWatched(watched, `changed[${index}]`)),
		gone: gone.map((name, index) => readBudgetName(name, `gone[${index}]`)),
		complete,
		...(unknown !== undefined && { unknown }),
	};
}

function watchedMessage({ budget, state }: WatchedBudget): wire.WatchedBudget {
	return {
		budget: budgetMessage(budget),
		state:
			"unknown" in state
				? { $case: "unknown", value: state.unknown }
				: { $case: "count", value: countMessage({ ...state, budgets: [] }) },
	};
}

function readWatched(message: wire.WatchedBudget, field: string): WatchedBudget {
	const budget = readBudget(required(message.budget, `${field}.budget`), `${field}.budget`);
	const state = required(message.state, `${field}.state`);
	return {
		budget,
		state:
			state.$case === "unknown"
				? { unknown: state.value }
				: { ...readCount(state.value, `${field}.count`), budgets: [budget] },
	};
}
