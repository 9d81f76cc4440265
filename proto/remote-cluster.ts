// Calls a member of the fleet over gRPC, through an agent.
//
// Every call has a deadline, except a wait in line, where keepalive detects a dead connection, and a watch (read-watch.ts). A count may
// take longer than other calls if the agent shows early that it is working on it. Nothing is retried here. If no answer comes, or one that
// cannot be read or is from another cluster, that is an error. The requested action may or may not have happened then.
import { Metadata, type ServiceError } from "@grpc/grpc-js";
import type { BudgetName } from "../disruption/budget/budget.ts";
import type {
	AcquireOptions,
	AcquireOutcome,
	AcquireRequest,
	Acquisition,
	CommitOutcome,
	Count,
	Grant,
	LookRequest,
} from "../disruption/budget/cluster.ts";
import { AgentProtocolError, AgentUnavailableError } from "../disruption/errors.ts";
import { longestCountMs } from "../disruption/lease/lease.ts";
import { quote } from "../disruption/quote.ts";
import type {
	AgentCluster,
	AgentDescription,
	BudgetList,
	Introduction,
	WatchOptions,
	WatchUnsupported,
} from "./agent-cluster.ts";
import { required } from "./fields.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";
import type { BudgetScope, HoldingReference, ListedLease } from "./listed-lease.ts";
import { type PassedOnCaller, writePassedOnCaller } from "./passed-on.ts";
import { readWatch } from "./read-watch.ts";
import { errorOfStatus } from "./status.ts";
import { callUnary, limitSilence, type OpenCall, silent, type UnaryCall } from "./unary.ts";
import { acquisitionMessage, budgetNameMessage, grantMessage, readCommitOutcome, readPlace } from "./wire.ts";
import { acquireMessage, countCallMessage, readAcquired, readBudgetList } from "./wire-calls.ts";
import { readCount } from "./wire-count.ts";
import { describeMessage, type MeetingQuestion, readDescription, readIntroduction } from "./wire-description.ts";
import { leaseScopesMessage, readLeaseList } from "./wire-leases.ts";

/** Enough for some API calls that take a second each. Half the lease duration, so that a round that hangs here can still stop. */
const defaultDeadlineMs = 5_000;

/** The metadata key of a call that one agent forwards to another agent of the same cluster. */
export const passedOnKey = "xpdb-passed-on";

export interface RemoteClusterOptions {
	/** The cluster that the calls are for. The agent behind the client may belong to another member, and forwards them. */
	readonly id: string;
	/** For people. */
	readonly name: string;
	/** The client stays open when the RemoteCluster is closed, because several may share it. */
	readonly client: wire.AgentServiceClient;
	readonly deadlineMs?: number;
	/** How much longer a count, alone or with an acquisition, may take than other calls. */
	readonly countMs?: number;
	/** The cluster whose agent makes the calls, for people. */
	readonly askedBy?: string;
	/** Marks calls that were already forwarded, so that the called agent of the same cluster answers them itself. */
	readonly passedOn?: "line";
	/** The original caller, if an agent forwards the calls. */
	readonly onBehalfOf?: PassedOnCaller;
}

/** Describes an agent to a caller that does not know the cluster's id yet. `name` is for people. */
export async function describeAgent(
	client: wire.AgentServiceClient,
	{
		name,
		deadlineMs = defaultDeadlineMs,
		...asked
	}: MeetingQuestion & { readonly name: string; readonly deadlineMs?: number },
): Promise<Introduction> {
	const call: UnaryCall<wire.DescribeResponse> = (...rest) => client.describe(describeMessage(asked), ...rest);
	const options = { name: "Describe", cluster: name, metadata: new Metadata(), deadlineMs, open: new Set<OpenCall>() };
	const answer = await callUnary(call, options);
	return readAnswer({ call: "Describe", cluster: name }, () => readIntroduction(answer));
}

export class RemoteCluster implements AgentCluster {
	readonly id: string;
	readonly name: string;
	readonly #client: wire.AgentServiceClient;
	readonly #deadlineMs: number;
	readonly #countMs: number;
	readonly #askedBy: string | undefined;
	readonly #passedOn: "line" | undefined;
	readonly #onBehalfOf: PassedOnCaller | undefined;
	readonly #open = new Set<OpenCall>();
	#closed = false;

	constructor(options: RemoteClusterOptions) {
		this.id = options.id;
		this.name = options.name;
		this.#client = options.client;
		this.#deadlineMs = options.deadlineMs ?? defaultDeadlineMs;
		this.#countMs = options.countMs ?? longestCountMs;
		this.#askedBy = options.askedBy;
		this.#passedOn = options.passedOn;
		this.#onBehalfOf = options.onBehalfOf;
	}

	async describe(budgetsOf?: readonly string[]): Promise<AgentDescription> {
		const request = describeMessage({ budgetsOf }, this.id);
		const call: UnaryCall<wire.DescribeResponse> = (...rest) => this.#client.describe(request, ...rest);
		const answer = await this.#unary("Describe", call);
		return this.#read("Describe", () => readDescription(answer));
	}

	async listBudgets(namespaces: readonly string[]): Promise<BudgetList> {
		const request = { clusterId: this.id, namespaces: [...namespaces] };
		const call: UnaryCall<wire.ListBudgetsResponse> = (...rest) => this.#client.listBudgets(request, ...rest);
		const answer = await this.#unary("ListBudgets", call);
		return this.#read("ListBudgets", () => readBudgetList(answer));
	}

	async listLeases(scopes: readonly BudgetScope[]): Promise<readonly ListedLease[]> {
		const request = { clusterId: this.id, budgets: leaseScopesMessage(scopes) };
		const call: UnaryCall<wire.ListLeasesResponse> = (...rest) => this.#client.listLeases(request, ...rest);
		const answer = await this.#unary("ListLeases", call);
		return this.#read("ListLeases", () => readLeaseList(answer));
	}

	async endHolding({ budget, leaseUid, transitions }: HoldingReference): Promise<boolean> {
		const request = { clusterId: this.id, budget: budgetNameMessage(budget), leaseUid, transitions };
		const { ended } = await this.#unary<wire.EndHoldingResponse>("EndHolding", (...rest) =>
			this.#client.endHolding(request, ...rest),
		);
		return ended;
	}

	async acquire(request: AcquireRequest, options: AcquireOptions): Promise<AcquireOutcome> {
		options.signal.throwIfAborted();
		const metadata = this.#metadata();
		const callOptions = options.wait ? {} : { deadline: Date.now() + this.#deadlineMs + this.#countMs };
		const message = acquireMessage(request, { clusterId: this.id, wait: options.wait });
		this.#refuseIfClosed("Acquire");
		const call = this.#client.acquire(message, metadata, callOptions);
		return new Promise<AcquireOutcome>((resolve, reject) => {
			const settle = (finish: () => void): void => {
				options.signal.removeEventListener("abort", onAbort);
				heard();
				this.#open.delete(call);
				finish();
			};
			const onAbort = (): void => {
				call.cancel();
				settle(() => reject(options.signal.reason));
			};
			options.signal.addEventListener("abort", onAbort, { once: true });
			this.#open.add(call);
			const heard = limitSilence(call, options.wait ? undefined : this.#deadlineMs, () => {
				settle(() => reject(this.#failure(silent(this.#deadlineMs))));
			});
			call.on("data", (response: wire.AcquireResponse) => {
				try {
					this.#requireOwnAnswer("Acquire", response.clusterId);
					const outcome = this.#read("Acquire", () => readOutcome(response));
					if (outcome.kind === "acquired") this.#requireAnswerTo(request, outcome);
					if (options.wait && outcome.kind === "held") options.onQueued?.(outcome);
					else settle(() => resolve(outcome));
				} catch (error) {
					// The agent notices that the caller is gone, and gives back what it may have acquired.
					call.cancel();
					settle(() => reject(error));
				}
			});
			call.on("error", (error: ServiceError) => {
				settle(() => reject(this.#failure(error)));
			});
			call.on("end", () => {
				const message = `cannot acquire in cluster "${this.name}": its agent ended the wait without an answer`;
				settle(() => reject(new AgentUnavailableError(message, this.name)));
			});
		});
	}

	async count(acquisition: Acquisition, request: AcquireRequest): Promise<Count> {
		return this.#count(countCallMessage(this.id, { kind: "again", acquisition, request }));
	}

	async look(request: LookRequest): Promise<Count> {
		return this.#count(countCallMessage(this.id, { kind: "look", request }));
	}

	async renew(acquisition: Acquisition): Promise<void> {
		const request = { clusterId: this.id, acquisition: acquisitionMessage(acquisition) };
		await this.#unary<wire.RenewResponse>("Renew", (...rest) => this.#client.renew(request, ...rest));
	}

	async commit(acquisition: Acquisition, grants: readonly Grant[]): Promise<CommitOutcome> {
		const request = {
			clusterId: this.id,
			acquisition: acquisitionMessage(acquisition),
			grants: grants.map(grantMessage),
		};
		const { outcome } = await this.#unary<wire.CommitResponse>("Commit", (...rest) =>
			this.#client.commit(request, ...rest),
		);
		return this.#read("Commit", () => readCommitOutcome(outcome));
	}

	async release(acquisition: Acquisition): Promise<void> {
		const request = { clusterId: this.id, acquisition: acquisitionMessage(acquisition) };
		await this.#unary<wire.ReleaseResponse>("Release", (...rest) => this.#client.release(request, ...rest));
	}

	async confirm(budget: BudgetName, ids: readonly string[]): Promise<boolean> {
		const request = { clusterId: this.id, budget: budgetNameMessage(budget), ids: [...ids] };
		const { stands } = await this.#unary<wire.ConfirmResponse>("Confirm", (...rest) =>
			this.#client.confirm(request, ...rest),
		);
		return stands;
	}

	async cancel(budget: BudgetName, ids: readonly string[], { sent }: { readonly sent: boolean }): Promise<void> {
		const request = { clusterId: this.id, budget: budgetNameMessage(budget), ids: [...ids], sent };
		await this.#unary<wire.CancelResponse>("Cancel", (...rest) => this.#client.cancel(request, ...rest));
	}

	async watchBudgets(namespaces: readonly string[], options: WatchOptions): Promise<WatchUnsupported> {
		this.#refuseIfClosed("WatchBudgets");
		const request = { clusterId: this.id, namespaces: [...namespaces] };
		return readWatch(() => this.#client.watchBudgets(request, this.#metadata()), {
			...options,
			id: this.id,
			cluster: this.name,
			askedBy: this.#askedBy,
			silentMs: this.#deadlineMs,
			open: this.#open,
		});
	}

	/** Ends the open calls. The client stays open. */
	close(): void {
		this.#closed = true;
		for (const call of this.#open) call.cancel();
	}

	async #count(request: wire.CountRequest): Promise<Count> {
		const call: UnaryCall<wire.CountResponse> = (...rest) => this.#client.count(request, ...rest);
		const response = await this.#unary("Count", call, this.#countMs);
		const count = this.#read("Count", () => readCount(response.count, "count"));
		this.#requireOwnAnswer("Count", count.clusterId);
		return count;
	}

	#read<T>(call: string, reader: () => T): T {
		return readAnswer({ call, cluster: this.name }, reader);
	}

	#requireAnswerTo(request: AcquireRequest, acquired: Extract<AcquireOutcome, { kind: "acquired" }>): void {
		const { nonce, budget } = acquired.acquisition;
		if (
			nonce !== request.nonce ||
			budget.name !== request.budget.name ||
			budget.namespace !== request.budget.namespace
		) {
			throw new AgentProtocolError(`cannot acquire in cluster "${this.name}": the answer is to another request`);
		}
		this.#requireOwnAnswer("Acquire", acquired.count.clusterId);
	}

	async #unary<Response extends { readonly clusterId: string }>(
		name: string,
		call: UnaryCall<Response>,
		workMs = 0,
	): Promise<Response> {
		this.#refuseIfClosed(name);
		const response = await callUnary(call, {
			name,
			cluster: this.name,
			askedBy: this.#askedBy,
			metadata: this.#metadata(),
			deadlineMs: this.#deadlineMs,
			workMs,
			open: this.#open,
		});
		this.#requireOwnAnswer(name, response.clusterId);
		return response;
	}

	#failure(error: ServiceError): Error {
		return errorOfStatus(error, { cluster: this.name, call: "Acquire", askedBy: this.#askedBy });
	}

	#metadata(): Metadata {
		const metadata = new Metadata();
		if (this.#passedOn) metadata.set(passedOnKey, this.#passedOn);
		if (this.#onBehalfOf) writePassedOnCaller(metadata, this.#onBehalfOf);
		return metadata;
	}

	#refuseIfClosed(call: string): void {
		if (this.#closed) throw new AgentUnavailableError(`cannot call ${call}: the connection is closed`, this.name);
	}

	#requireOwnAnswer(call: string, clusterId: string): void {
		if (clusterId === this.id) return;
		throw new AgentProtocolError(
			`cannot use the answer to ${call} of cluster "${this.name}": asked for cluster id "${this.id}", got ${quote(clusterId)}`,
		);
	}
}

function readOutcome(response: wire.AcquireResponse): AcquireOutcome {
	const outcome = required(response.outcome, "outcome");
	return outcome.$case === "held" ? { kind: "held", ...readPlace(outcome.value, "held") } : readAcquired(outcome.value);
}

/** Adds the call and the cluster to the error of an answer that cannot be read. */
function readAnswer<T>({ call, cluster }: { readonly call: string; readonly cluster: string }, reader: () => T): T {
	try {
		return reader();
	} catch (error) {
		if (!(error instanceof AgentProtocolError)) throw error;
		throw new AgentProtocolError(`cannot use the answer to ${call} of cluster "${cluster}": ${error.message}`, {
			cause: error,
		});
	}
}
