// Says why a pod is not up, in the words of kubectl's STATUS column (printPod in pkg/printers/internalversion). It is for people: no
// decision depends on it. Other components write these texts, so unreadable fields are left out and every text is bounded.
import { oneLine } from "../printable.ts";
import { shortenTo } from "../quote.ts";
import { isRecord } from "../record.ts";
import { isText } from "../text.ts";

/** Stored for every pod that is not up, so it is small. Older agents do not report it. */
export interface PodStatus {
	/** As in STATUS (Pending, CrashLoopBackOff, Terminating), or Reserved. */
	readonly state?: string;
	/** Why no node can run the pod, in the scheduler's words. */
	readonly message?: string;
	/** When this state began, in seconds since the epoch, by the clock of the component that wrote it. */
	readonly sinceSeconds?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Enough for a container's reason, which is one word. */
const longestState = 60;
/** Enough for the scheduler's first sentence, with a reason for each kind of node. */
const longestMessage = 250;

export function boundedStatus({ state, message, sinceSeconds }: PodStatus): PodStatus {
	return {
		...(isText(state) && { state: shortenTo(oneLine(state), longestState) }),
		...(isText(message) && { message: shortenTo(oneLine(message), longestMessage) }),
		...(sinceSeconds !== undefined && sinceSeconds >= 0 && { sinceSeconds }),
	};
}

/** Expects a pod that is terminating or not ready. */
export function podStatus(pod: unknown): PodStatus {
	const metadata = fieldsOf(pod, "metadata");
	const spec = fieldsOf(pod, "spec");
	const status = fieldsOf(pod, "status");
	if (isText(metadata["deletionTimestamp"])) {
		const ends = secondsOf(metadata["deletionTimestamp"]);
		const grace = numberOf(metadata["deletionGracePeriodSeconds"]) ?? 0;
		return boundedStatus({
			state: status["reason"] === "NodeLost" ? "Unknown" : "Terminating",
			...(ends !== undefined && { sinceSeconds: ends - grace }),
		});
	}
	const conditions = listOf(status, "conditions");
	const unscheduled = conditions.find(({ type, status: is }) => type === "PodScheduled" && is === "False");
	const unready = conditions.find(({ type, status: is }) => type === "Ready" && is !== "True");
	const since = unscheduled?.["lastTransitionTime"] ?? unready?.["lastTransitionTime"] ?? metadata["creationTimestamp"];
	const sinceSeconds = secondsOf(since);
	const state = unscheduled?.["reason"] === "SchedulingGated" ? "SchedulingGated" : stateOf(spec, status);
	return boundedStatus({
		...(state !== undefined && { state }),
		...(sinceSeconds !== undefined && { sinceSeconds }),
		...(isText(unscheduled?.["message"]) && { message: unscheduled["message"] }),
	});
}

function stateOf(spec: Fields, status: Fields): string | undefined {
	const ofPod = [status["reason"], status["phase"]].find(isText);
	const initContainers = listOf(spec, "initContainers");
	const sidecars = new Set(initContainers.filter((each) => each["restartPolicy"] === "Always").map(nameOf));
	const inits = listOf(status, "initContainerStatuses");
	const current = inits.findIndex(
		(each) => !(isDone(each) || (sidecars.has(nameOf(each)) && each["started"] === true)),
	);
	const initializing = inits[current];
	const initialized = listOf(status, "conditions").some(
		({ type, status: is }) => type === "Initialized" && is === "True",
	);
	if (initializing && !initialized) {
		const reason = reasonOf(initializing);
		const says = reason !== undefined && reason !== "PodInitializing";
		return `Init:${says ? reason : `${current}/${initContainers.length}`}`;
	}
	const containers = listOf(status, "containerStatuses");
	// As in kubectl, the first container with a reason decides.
	const [reason] = containers.flatMap((container) => reasonOf(container) ?? []);
	const runs = containers.some((container) => isRecord(fieldsOf(container, "state")["running"]));
	return reason === "Completed" && runs ? "NotReady" : (reason ?? ofPod);
}

function reasonOf(container: Fields): string | undefined {
	const state = fieldsOf(container, "state");
	const waiting = fieldsOf(state, "waiting")["reason"];
	if (isText(waiting)) return waiting;
	if (!isRecord(state["terminated"])) return undefined;
	const { reason, signal, exitCode } = state["terminated"];
	if (isText(reason)) return reason;
	const killedBy = numberOf(signal) ?? 0;
	return killedBy === 0 ? `ExitCode:${numberOf(exitCode) ?? 0}` : `Signal:${killedBy}`;
}

function isDone(container: Fields): boolean {
	return fieldsOf(fieldsOf(container, "state"), "terminated")["exitCode"] === 0;
}

function nameOf({ name }: Fields): unknown {
	return name;
}

function fieldsOf(object: unknown, field: string): Fields {
	const value = isRecord(object) ? object[field] : undefined;
	return isRecord(value) ? value : {};
}

function listOf(fields: Fields, field: string): readonly Fields[] {
	const list = fields[field];
	return Array.isArray(list) ? list.filter(isRecord) : [];
}

function numberOf(value: unknown): number | undefined {
	return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** In seconds since the epoch. Undefined if the time cannot be read. */
function secondsOf(time: unknown): number | undefined {
	const ms = isText(time) ? Date.parse(time) : Number.NaN;
	return Number.isFinite(ms) ? Math.floor(ms / 1_000) : undefined;
}
