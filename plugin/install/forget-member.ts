// Forgets a member in the list of every cluster that answers.
//
// Guarantee, if the caller rehearses first and stops at a problem: nothing is written before every API server that answered has agreed to
// all of it, including the Event. Each cluster gets one conditional write, and a list that already forgets the member stays as it is. So
// the same command continues where an earlier one stopped. While lists differ, nothing is evicted.
import { defaultFleetConfigMap } from "../../disruption/agent-names.ts";
import { personEvent, writePersonEvent } from "../fleet/person-event.ts";
import { ApiError, ConnectionError, errorText, kubectlErrorLine } from "../kubernetes/api-error.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { UsageError } from "../terminal/errors.ts";
import type { ForgetPlan } from "./forget-plan.ts";
import { isTimeout, noAnswer } from "./install-step.ts";
import { forgetInList, type MemberList, readMemberList } from "./member-list.ts";

export interface ContextProblem {
	readonly context: string;
	readonly message: string;
}

export interface ReadLists {
	readonly lists: readonly MemberList[];
	/** Clusters whose API servers did not answer, or failed. */
	readonly silent: readonly ContextProblem[];
}

/** Throws UsageError if a list cannot be read for any reason other than an API server that does not answer or fails. */
export async function readMemberLists(contexts: readonly KubeContext[]): Promise<ReadLists> {
	const silent: ContextProblem[] = [];
	const lists = await Promise.all(
		contexts.map(async (context) => {
			try {
				return [await readMemberList(context)];
			} catch (error) {
				if (error instanceof ApiError && error.code < 500) {
					throw new UsageError(`${context.name}: cannot read the list of members: ${error.message}`);
				}
				if (error instanceof UsageError) throw error;
				silent.push({ context: context.name, message: silenceOf(error) });
				return [];
			}
		}),
	);
	return { lists: lists.flat(), silent };
}

export interface ForgetOptions {
	/** As claimed by the user: "alice@laptop". */
	readonly by: string;
	/** Milliseconds since the epoch. */
	readonly now: () => number;
	/** Asks every API server, and writes nothing. */
	readonly rehearse: boolean;
	readonly onForgotten: (list: MemberList) => void;
}

/** Returns the problems, at most one for each cluster. */
export async function forgetMember(plan: ForgetPlan, options: ForgetOptions): Promise<readonly ContextProblem[]> {
	const { member, todo } = plan;
	const inEach = async (act: (list: MemberList) => Promise<string | undefined>): Promise<readonly ContextProblem[]> => {
		const results = await Promise.all(
			todo.map(async (list) => {
				const message = await act(list).catch((error: unknown) => problemOf(error));
				return message === undefined ? [] : [{ context: list.context.name, message }];
			}),
		);
		return results.flat();
	};
	if (options.rehearse) {
		return inEach(async (list) => {
			await forgetInList(list, member, { rehearse: true });
			const untold = await tell(list, plan, options);
			return untold === undefined ? undefined : `the Event that tells of it could not be written: ${untold}`;
		});
	}
	return inEach(async (list) => {
		await forgetInList(list, member, { rehearse: false });
		options.onForgotten(list);
		const untold = await tell(list, plan, options);
		return untold === undefined ? undefined : `it is forgotten, and the Event could not be written: ${untold}`;
	});
}

function tell(
	{ context, object }: MemberList,
	{ member, survivors }: ForgetPlan,
	{ by, now, rehearse }: ForgetOptions,
): Promise<string | undefined> {
	const { namespace } = context.agents;
	const event = personEvent({
		regarding: { apiVersion: "v1", kind: "ConfigMap", namespace, name: defaultFleetConfigMap, uid: object.uid },
		at: now(),
		by,
		action: "Forget",
		reason: "MemberForgotten",
		type: "Warning",
		note:
			`member ${member.name} (id ${member.id}) was forgotten by ${by}: budgets are counted over ` +
			`${survivors.map(({ name, id }) => name ?? id).join(", ")}, and its agents are refused until it is listed again`,
	});
	return writePersonEvent(context, namespace, event, { rehearse });
}

function problemOf(error: unknown): string {
	if (error instanceof ApiError) return error.message;
	return silenceOf(error);
}

function silenceOf(error: unknown): string {
	if (error instanceof ConnectionError || error instanceof ApiError) return kubectlErrorLine(error);
	if (isTimeout(error)) return noAnswer;
	if (error instanceof UsageError) return errorText(error);
	throw error;
}
