// Writes spec.suspend of one budget in all members that have it.
//
// Guarantee: a suspension is in place in all these members, or the writes are taken back. It is reported as in place only after each API
// server has confirmed it. Every write names the resourceVersion that was read, so a concurrent edit is a conflict and is never
// overwritten. If taking back fails, the report says what is known about that member. The budget applies as long as one member does not
// suspend it.
//
// Ending a suspension is never taken back: the first member that ends it makes the budget apply in all of them.
import { suspensionAnnotation } from "../../disruption/budget/suspension.ts";
import { ApiError, errorText, isPassing } from "../kubernetes/api-error.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import { budgetPath, findBudget, readFoundBudget, type SuspensionTarget } from "./suspension-target.ts";

export interface SuspensionChange {
	readonly suspend: boolean;
	/** Says who suspends the budget. null removes the existing annotation. */
	readonly annotation: string | null;
}

export interface MemberFailure {
	readonly target: SuspensionTarget;
	readonly message: string;
	/** Whether it is unknown if the write happened: the API server did not answer, its error may pass, or the run was stopped. */
	readonly unreachable: boolean;
}

/** What is known about a member after an attempt to take its write back. */
export interface TakenBack {
	readonly target: SuspensionTarget;
	/** Undefined if unknown. */
	readonly suspended: boolean | undefined;
	readonly message: string;
}

export interface WriteOutcome {
	readonly failures: readonly MemberFailure[];
	readonly stood: readonly SuspensionTarget[];
}

/** A frozen API server does not answer at all. A working one answers in milliseconds. */
const answerWithinMs = 10_000;
/** Attempts if other clients write the object between our read and our write. */
const maxConflicts = 5;

/** With `rehearse`, a server-side dry run that changes nothing. */
export async function writeSuspension(
	targets: readonly SuspensionTarget[],
	change: SuspensionChange,
	{ rehearse, stop }: { readonly rehearse: boolean; readonly stop: AbortSignal },
): Promise<WriteOutcome> {
	const failures: MemberFailure[] = [];
	const stood: SuspensionTarget[] = [];
	await Promise.all(
		targets.map(async (target) => {
			const failure = await within(stop, async (signal) => patch(target, change, { rehearse, signal }));
			if (failure) failures.push({ target, ...failure });
			else stood.push(target);
		}),
	);
	return { failures, stood };
}

/** Takes back each write that succeeded or may have succeeded. For the other members, returns their current state. */
export async function takeBack(
	targets: readonly SuspensionTarget[],
	change: SuspensionChange,
): Promise<readonly TakenBack[]> {
	return Promise.all(
		targets.map(async (target): Promise<TakenBack> => {
			const known: { now?: Pick<TakenBack, "suspended" | "message"> } = {};
			const failure = await within(undefined, async (signal) => {
				known.now = await takeBackOne(target, change, signal);
			});
			return { target, suspended: undefined, message: failure?.message ?? "", ...known.now };
		}),
	);
}

async function takeBackOne(
	{ context, name, found: before }: SuspensionTarget,
	{ annotation }: SuspensionChange,
	signal: AbortSignal,
): Promise<Pick<TakenBack, "suspended" | "message">> {
	for (let attempt = 1; ; attempt += 1) {
		const now = await findBudget(context, name, signal);
		if (!now) return { suspended: false, message: "it is not there any more" };
		if (now.uid !== before.uid || now.annotation !== annotation) {
			const { suspended } = now;
			return { suspended, message: suspended ? "another user has suspended it since" : "it is not suspended" };
		}
		try {
			await context.client.mergePatch(
				`${budgetPath(name)}?fieldManager=${fieldManager}`,
				{
					metadata: {
						resourceVersion: now.resourceVersion,
						annotations: { [suspensionAnnotation]: before.annotation ?? null },
					},
					spec: { suspend: before.suspend ?? null },
				},
				{ signal },
			);
			return { suspended: false, message: "taken back" };
		} catch (error) {
			if (!(error instanceof ApiError && error.code === 409) || attempt >= maxConflicts) throw error;
		}
	}
}

async function patch(
	{ context, name, found }: SuspensionTarget,
	{ suspend, annotation }: SuspensionChange,
	{ rehearse, signal }: { readonly rehearse: boolean; readonly signal: AbortSignal },
): Promise<void> {
	const query = `?fieldManager=${fieldManager}${rehearse ? "&dryRun=All" : ""}`;
	const answer = await context.client.mergePatch<unknown>(
		budgetPath(name) + query,
		{
			metadata: { resourceVersion: found.resourceVersion, annotations: { [suspensionAnnotation]: annotation } },
			// null removes the field.
			spec: { suspend: suspend ? true : null },
		},
		{ signal },
	);
	const written = readFoundBudget(answer);
	if (written.suspended !== suspend || written.uid !== found.uid) {
		// The API server also answers 200 if the CustomResourceDefinition lacks the field and drops it, or if an admission webhook changes
		// the value.
		throw new ApiError(`its API server accepted the change, but spec.suspend is still ${suspend ? "unset" : "true"}`, {
			code: 422,
			reason: "Invalid",
		});
	}
}

/** Limits the time of `work`. Returns why it failed; undefined on success. */
async function within(
	stop: AbortSignal | undefined,
	work: (signal: AbortSignal) => Promise<void>,
): Promise<Omit<MemberFailure, "target"> | undefined> {
	const timeout = AbortSignal.timeout(answerWithinMs);
	try {
		await work(stop ? AbortSignal.any([stop, timeout]) : timeout);
		return undefined;
	} catch (error) {
		if (!(error instanceof Error)) throw error;
		if (timeout.aborted) {
			return { message: `its API server gave no answer within ${answerWithinMs / 1_000}s`, unreachable: true };
		}
		return { message: errorText(error), unreachable: stop?.aborted === true || isPassing(error) };
	}
}
