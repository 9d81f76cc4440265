// Formats plain lines about a budget's suspension in one member, in kubectl's words for custom resources.
import { budgetApi } from "../../disruption/budget/budget.ts";
import type { Suspension } from "../../disruption/budget/suspension.ts";
import type { RunEvent } from "../events/events.ts";
import { dryRunSuffix } from "./dry-run-suffix.ts";

type SuspensionEvent = Extract<
	RunEvent,
	{ type: "budget.suspended" | "budget.unsuspended" | "budget.suspendFailed" | "budget.takenBack" }
>;

export function suspensionLine(
	event: SuspensionEvent,
): { readonly out: string; readonly err?: never } | { readonly out?: never; readonly err: string } {
	const name = event.budget.slice(event.budget.indexOf("/") + 1);
	switch (event.type) {
		case "budget.suspended":
		case "budget.unsuspended": {
			const verb = event.type === "budget.suspended" ? "suspended" : "unsuspended";
			const already = event.already ? "already " : "";
			const who = event.already && event.suspension ? ` ${suspensionText(event.suspension)}` : "";
			return {
				out: `xpoddisruptionbudget.${budgetApi.group}/${name} ${already}${verb}${who}${dryRunSuffix(event.dryRun)}`,
			};
		}
		case "budget.suspendFailed":
			return {
				err: `error: unable to ${event.unsuspend ? "unsuspend" : "suspend"} budget "${name}": ${event.message}`,
			};
		case "budget.takenBack": {
			const state = {
				true: "still suspended",
				false: "not suspended",
				undefined: "unknown whether it is suspended",
			};
			const isBack = event.suspended === false;
			return { err: `${isBack ? "" : "error: "}budget "${name}": ${state[`${event.suspended}`]}: ${event.message}` };
		}
	}
}

/** For example "by alice@laptop since 2026-01-01T00:00:00.000Z: database upgrade". The time is absolute, because runs are logged. */
function suspensionText({ by, since, reason }: Suspension): string {
	return `by ${by} since ${since}${reason === undefined ? "" : `: ${reason}`}`;
}
