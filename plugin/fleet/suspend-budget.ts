// spec.suspend of one budget, written in all members.
//
// Guarantee: a suspension stands in all of them, or what was written is taken back. It is told as standing only after each API server
// has answered that it stands there. Every write names the resourceVersion that was read: an edit in between is a conflict and never
// overwritten. Where taking back fails too, what is known of that member is told: the budget holds while one member is not suspended.
// The other way round nothing is taken back: the first member that is not suspended any more makes the budget hold, in all of them.
import { suspensionAnnotation } from "../../disruption/budget/suspension.ts";
import { ApiError, errorText, isPassing } from "../kubernetes/api-error.ts";
import { fieldManager } from "../kubernetes/field-manager.ts";
import { budgetPath, findBudget, readFoundBudget, type SuspensionTarget } from "./suspension-target.ts";

export interface SuspensionChange {
	readonly suspend: boolean;
	/** Of who suspends it; null takes the one there away. */
	readonly annotation: string | null;
}

export interface MemberFailure {
	readonly target: SuspensionTarget;
	readonly message: string;
	/** The API server gave no answer: nobody knows whether it was written. */
	readonly unreachable: boolean;
}

/** What is known of a member after its write was to be taken back. */
export interface TakenBack {
	readonly target: SuspensionTarget;
	/** Undefined: nobody knows. */
	readonly suspended: boolean | undefined;
	readonly message: string;
}

export interface WriteOutcome {
	readonly failures: readonly MemberFailure[];
	readonly stood: readonly SuspensionTarget[];
}

/** An API server that is frozen lets everybody wait; these answer in milliseconds. */
const answerWithinMs = 10_000;
/** Somebody else writes the object between our read and our write. */
const maxConflicts = 5;

/** In all of them at once. `rehearse`: the API servers are asked, and change nothing. */
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

/** Of each that was written, or may have been; of the others it says how they are. */
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
			return { suspended, message: suspended ? "somebody else has suspended it since" : "it is not suspended" };
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
			// null takes the field away, as it does for a node that is uncordoned.
			spec: { suspend: suspend ? true : null },
		},
		{ signal },
	);
	const written = readFoundBudget(answer);
	if (written.suspended !== suspend || written.uid !== found.uid) {
		// A definition without the field drops it, and an admission webhook may write another value: both answer 200.
		throw new ApiError(
			`its API server took the change and has spec.suspend ${suspend ? "unset" : "true"} all the same`,
			{
				code: 422,
				reason: "Invalid",
			},
		);
	}
}

/** Undefined where it was done. */
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
