// Waits until a Service has an address for other clusters. Clouds take minutes to create a load balancer.
import { setTimeout as delay } from "node:timers/promises";
import type { CoreV1Event } from "@kubernetes/client-node";
import { formatAge } from "../../flags/duration.ts";
import type { KubeContext } from "../../kubernetes/kube-context.ts";
import { UsageError } from "../../terminal/errors.ts";
import { installStep } from "../install-step.ts";
import { openVersionWarnings } from "./exposure-lines.ts";
import { type Exposure, kindTexts } from "./exposure.ts";
import { chooseAddress, type OfferedAddress } from "./offered-addresses.ts";
import { peersService } from "./peers-service.ts";
import { type FoundPeers, readPeers } from "./read-peers.ts";

export interface AwaitedAddress {
	readonly context: KubeContext;
	readonly exposure: Exposure;
}

export interface AddressWait {
	readonly timeoutMs: number;
	readonly signal: AbortSignal;
	readonly tell: (line: string) => void;
	/** Default: the real clock. */
	readonly clock?: { readonly now: () => number; readonly pause: (ms: number, signal: AbortSignal) => Promise<void> };
}

const pollMs = 1_000;
/** The same interval as between the progress lines of a run. */
const tellMs = 15_000;

const realClock = {
	now: () => performance.now(),
	pause: (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }),
};

/** Throws UsageError after the timeout, with what the cluster reports and how to continue. Also rejects if the signal aborts. */
export async function waitForAddress(
	{ context, exposure }: AwaitedAddress,
	{ timeoutMs, signal, tell, clock = realClock }: AddressWait,
): Promise<OfferedAddress> {
	const { name } = context;
	const begun = clock.now();
	for (let toldAt = begun - tellMs, told = ""; ; ) {
		const peers = await installStep(context, `read service/${peersService}`, readPeers(context));
		if (peers?.exposure.kind === exposure.kind && peers.offered.kind === "some") {
			const { address, of } = chooseAddress(peers.offered, undefined);
			tell(`${name}  others reach its agents at ${address}, ${of}`);
			for (const line of openVersionWarnings(name, exposure, peers.ipFamilies)) tell(`Warning: ${line}`);
			return { address, of };
		}
		const now = clock.now();
		const why = whyNot(peers, exposure);
		if (why !== told || now - toldAt >= tellMs) {
			tell(`${name}  service/${peersService}: ${why}${told === "" ? "" : ` (${formatAge(now - begun)})`}`);
			[told, toldAt] = [why, now];
		}
		if (now - begun >= timeoutMs) throw await noAddress(context, { exposure, why, afterMs: now - begun });
		await clock.pause(pollMs, signal);
	}
}

function whyNot(peers: FoundPeers | undefined, { kind }: Exposure): string {
	if (!peers) return "it is not there";
	if (peers.exposure.kind !== kind) return `it is still a ${kindTexts[peers.exposure.kind]}`;
	return peers.offered.kind === "none" ? peers.offered.why : "";
}

interface Missing {
	readonly exposure: Exposure;
	readonly why: string;
	readonly afterMs: number;
}

async function noAddress(context: KubeContext, { exposure, why, afterMs }: Missing): Promise<UsageError> {
	const { name, agents, suggest } = context;
	const said = await lastWarning(context);
	const look = suggest.kubectl(["describe", "service", peersService, "-n", agents.namespace], name);
	const instead =
		exposure.kind === "loadbalancer" ? `; a cluster without load balancers takes --expose=${name}=nodeport` : "";
	return new UsageError(
		`${name}: after ${Math.round(afterMs / 1_000)} s service/${peersService}: ${why}${said === undefined ? "" : ` (${said})`}; see ${look}`,
		`Once it has one, run the same command to continue${instead}; one that you know can be given with --address=${name}=HOST:PORT`,
	);
}

/** Returns the latest warning about the Service. Undefined if there is none, or if it cannot be read. */
async function lastWarning({ client, agents }: KubeContext): Promise<string | undefined> {
	const fieldSelector = `involvedObject.kind=Service,involvedObject.name=${peersService},type=Warning`;
	const events = await client
		.list<CoreV1Event>(`/api/v1/namespaces/${agents.namespace}/events`, { fieldSelector })
		.catch(() => []);
	const seen = ({ lastTimestamp, eventTime, metadata }: CoreV1Event): number =>
		new Date(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? 0).getTime();
	const last = events.toSorted((a, b) => seen(a) - seen(b)).at(-1);
	return last && [last.reason, last.message].filter((text) => text !== undefined && text !== "").join(": ");
}
