// A target for what the plugin reads from an agent's watch of budgets: a stream of messages, and its end.
import { EventEmitter } from "node:events";
import { status } from "@grpc/grpc-js";
import fc from "fast-check";
import type { BudgetsUpdate } from "../../../proto/agent-cluster.ts";
import type * as wire from "../../../proto/gen/xpdb/v1/agent.ts";
import { RemoteCluster } from "../../../proto/remote-cluster.ts";
import * as samples from "../../support/samples.ts";
import { attemptAsync } from "../clear-error.ts";
import { decoded, editedBytes, messageEdits } from "../edited-message.ts";
import { asyncTarget, demand, type FuzzTarget } from "../fuzz-target.ts";
import { watchMessages } from "../seed-messages.ts";
import { demandCount, documentedErrors, sentStatus, serviceError } from "./answer-targets.ts";

export const budgetWatchTarget: FuzzTarget = {
	name: "budget-watch",
	reads: "what an agent tells of its budgets as they change, read by `budgets -w` and by other agents",
	share: 0.5,
	open: () => {
		const input = fc.record({
			messages: fc.array(messageEdits, { minLength: 1, maxLength: 2 }),
			end: fc.option(sentStatus, { nil: undefined }),
		});
		return asyncTarget(input, async ({ messages, end }) => {
			const sent = messages.flatMap((edits) => {
				const bytes = editedBytes(watchMessages, edits);
				const message = bytes && decoded(watchMessages.codec, bytes);
				return message === undefined ? [] : [message as wire.WatchBudgetsResponse];
			});
			const call = Object.assign(new EventEmitter(), { cancel: () => undefined });
			const client = { watchBudgets: () => call } as unknown as wire.AgentServiceClient;
			const cluster = new RemoteCluster({ id: samples.clusterId, name: "eu-1", client });
			let reading: wire.WatchBudgetsResponse | undefined;
			setImmediate(() => {
				for (const message of sent) {
					reading = message;
					call.emit("data", message);
				}
				if (end) call.emit("error", serviceError(end));
				else call.emit("end");
			});
			const updates: BudgetsUpdate[] = [];
			const watch = cluster.watchBudgets([], {
				signal: new AbortController().signal,
				onUpdate(update) {
					demand(reading?.clusterId === samples.clusterId, "It took what another cluster's agent told");
					updates.push(update);
				},
			});
			const ended = await attemptAsync(() => watch, documentedErrors);
			demand(!ended || end?.code === status.UNIMPLEMENTED, "It took the end of a watch for an answer");
			for (const update of updates) demandUpdate(update);
		});
	},
};

function demandUpdate({ changed, gone, histories = [] }: BudgetsUpdate): void {
	for (const { budget, state } of changed) {
		demand(budget.name.name !== "" && budget.name.namespace !== "", "It took a budget without a name");
		if ("unknown" in state) continue;
		demandCount(state);
		demand(state.budgets.length === 1 && state.budgets[0] === budget, "It took a count of other budgets");
	}
	for (const name of gone) demand(name.name !== "" && name.namespace !== "", "It took a name that is none");
	for (const { budget, lastAt, everySeconds, healthy } of histories) {
		demand(budget.name !== "" && budget.namespace !== "", "It took a history of no budget");
		demand(healthy.length <= 60, `It took a history of ${healthy.length} looks`);
		demand(everySeconds > 0 && lastAt >= 0 && lastAt % everySeconds === 0, "It took a time that no look has");
		for (const pods of healthy) {
			demand(pods === undefined || (Number.isSafeInteger(pods) && pods >= 0), `It took ${pods} healthy pods`);
		}
	}
}
