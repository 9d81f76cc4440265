// Converts updates of a watch of budgets to messages and back, as strictly as wire.ts.
import { AgentProtocolError } from "../disruption/errors.ts";
import type { BudgetHistory, BudgetsUpdate, WatchedBudget } from "./agent-cluster.ts";
import { required, wholeNumber } from "./fields.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";
import { budgetNameMessage, readBudgetName } from "./wire.ts";
import { budgetMessage, countMessage, readBudget, readCount } from "./wire-count.ts";

/** The most samples in a history. Agents keep no more, and readers refuse more. */
export const mostSamples = 60;

export function updateMessage(
	clusterId: string,
	{ changed, gone, complete, unknown, histories = [] }: BudgetsUpdate,
): wire.WatchBudgetsResponse {
	return {
		clusterId,
		changed: changed.map(watchedMessage),
		gone: gone.map(budgetNameMessage),
		complete,
		unknown,
		histories: histories.map(historyMessage),
	};
}

export function readUpdate({ changed, gone, complete, unknown, histories }: wire.WatchBudgetsResponse): BudgetsUpdate {
	return {
		changed: changed.map((watched, index) => readWatched(watched, `changed[${index}]`)),
		gone: gone.map((name, index) => readBudgetName(name, `gone[${index}]`)),
		complete,
		...(unknown !== undefined && { unknown }),
		...(histories.length > 0 && {
			histories: histories.map((history, index) => readHistory(history, `histories[${index}]`)),
		}),
	};
}

function historyMessage({ budget, lastAt, everySeconds, healthy }: BudgetHistory): wire.BudgetHistory {
	return {
		budget: budgetNameMessage(budget),
		lastAtSeconds: lastAt,
		everySeconds,
		healthy: healthy.map((pods) => pods ?? -1),
	};
}

function readHistory(message: wire.BudgetHistory, field: string): BudgetHistory {
	const everySeconds = wholeNumber(message.everySeconds, `${field}.every_seconds`, 1);
	const lastAt = wholeNumber(message.lastAtSeconds, `${field}.last_at_seconds`);
	if (lastAt % everySeconds !== 0 || message.healthy.length > mostSamples) {
		throw new AgentProtocolError(
			`cannot read message: ${field} has ${message.healthy.length} looks, the last at ${lastAt}, one every ${everySeconds} s`,
		);
	}
	// Built once per history and not once per sample, because an update may have thousands of histories.
	const looks = `${field}.healthy`;
	return {
		budget: readBudgetName(message.budget, `${field}.budget`),
		lastAt,
		everySeconds,
		healthy: message.healthy.map((pods) => (pods === -1 ? undefined : wholeNumber(pods, looks))),
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
