// Carries every request and every answer between plugins, agents and API servers.
//
// A request waits until the scheduler lets it arrive. It can be lost, arrive twice, or lose its answer. Its caller can give it up while it
// is still on its way: then it is executed late or never. A dead process receives nothing more, but its requests may still arrive.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { running } from "./await-points.ts";
import { type Fault, faultText } from "./fault.ts";
import type { Step } from "./scheduler.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

/** One place where a request can be executed. */
export interface Route<T> {
	readonly name: string;
	/** The executing agent. Undefined for an API server, which never dies here. */
	readonly process?: SimulatedProcess;
	/** `gone` returns a signal that aborts when the caller stops waiting. Call it before the first wait. */
	run(gone: () => AbortSignal): T | Promise<T>;
}

export interface Request<T> {
	readonly from: SimulatedProcess;
	readonly cluster: string;
	readonly what: string;
	readonly detail: () => string;
	/** Returns a route to each process that can execute the request now, always the same object for the same process. */
	routes(): readonly Route<T>[];
	/** Aborted when the caller stops waiting. The executing process learns that in a step of its own. */
	readonly signal?: AbortSignal;
	/** Answered at once and without a step, for example because what the request reads cannot change. */
	readonly atOnce?: boolean;
	/** Whether a real network, or a client that retries, could deliver the request twice. */
	readonly mayDouble: boolean;
	/** Returns the answer for the fault "refused". */
	readonly refusal?: () => T;
}

export type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

interface Call {
	readonly number: number;
	readonly request: Request<unknown>;
	/** Set if the executing process asked to be told when the caller stops waiting. */
	controller: AbortController | undefined;
	state: "requested" | "running" | "answered";
	awaited: boolean;
	at: Route<unknown> | undefined;
	outcome: Outcome | undefined;
	settle: (outcome: Outcome) => void;
	/** The possible next steps. Kept, so that they are not made anew before every step. */
	offers: Offers;
}

interface Offers {
	/** The first route when these steps were made. */
	readonly first: Route<unknown> | undefined;
	readonly arrivals: Map<Route<unknown>, Step>;
	readonly faults: Map<Fault, Step>;
	answer?: Step;
}

export interface NetworkOptions {
	/** Whether answers arrive in a step of their own. Otherwise they arrive at the moment of the execution. */
	readonly splitAnswers: boolean;
	/** Whether this request may meet one more fault of this kind. */
	readonly mayFail: (fault: Fault, request: Request<unknown>) => boolean;
	/** Called before each fault. */
	readonly failing: (fault: Fault, from: SimulatedProcess) => void;
	/** Called with each answer, for the history. */
	readonly onAnswer: (request: Request<unknown>, route: string, outcome: Outcome, late: boolean) => void;
}

export class Network {
	readonly #options: NetworkOptions;
	readonly #calls = new Set<Call>();
	readonly #closing = new Set<Call>();
	#number = 0;

	constructor(options: NetworkOptions) {
		this.#options = options;
	}

	send<T>(request: Request<T>): Promise<T> {
		if (request.atOnce && request.from.alive) return this.#answerAtOnce(request);
		const { promise, resolve, reject } = Promise.withResolvers<T>();
		if (!request.from.alive) return promise;
		const call: Call = {
			number: (this.#number += 1),
			request,
			controller: undefined,
			state: "requested",
			awaited: true,
			at: undefined,
			outcome: undefined,
			offers: noOffers(undefined),
			settle: (outcome) => {
				if (!request.from.alive) return;
				request.from.learns(() => `${request.what} ${request.detail()} -> ${outcomeText(outcome)}`);
				// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a route of this request answered
				if (outcome.ok) resolve(outcome.value as T);
				else reject(outcome.error);
			},
		};
		this.#calls.add(call);
		const { signal } = request;
		if (!signal) return promise;
		const aborted = (): void => this.#giveUp(call, signal.reason);
		signal.addEventListener("abort", aborted);
		return promise.finally(() => signal.removeEventListener("abort", aborted));
	}

	#answerAtOnce<T>(request: Request<T>): Promise<T> {
		const [route] = request.routes();
		if (!route) throw new Error(`nobody answers ${request.what}`);
		const heard = (outcome: Outcome): void => {
			this.#options.onAnswer(request, route.name, outcome, false);
			request.from.learns(() => `${request.what} ${request.detail()} -> ${outcomeText(outcome)}`);
		};
		try {
			const value = route.run(() => new AbortController().signal);
			heard({ ok: true, value });
			return Promise.resolve(value);
		} catch (error) {
			heard({ ok: false, error });
			return Promise.reject(error);
		}
	}

	/** Returns the requests of this process that are still on their way and that it has not given up. */
	waiting(from: string): readonly string[] {
		return this.#asked(from, "requested");
	}

	isWaiting(from: SimulatedProcess): boolean {
		for (const { request, state, awaited } of this.#calls)
			if (state === "requested" && awaited && request.from === from) return true;
		return false;
	}

	/** Returns the executed requests whose answers this process has not received. */
	answered(from: string): readonly string[] {
		return this.#asked(from, "answered");
	}

	#asked(from: string, inState: Call["state"]): readonly string[] {
		const asked: string[] = [];
		for (const { request, state, awaited } of this.#calls) {
			if (state === inState && awaited && request.from.name === from) asked.push(request.what);
		}
		return asked;
	}

	get isIdle(): boolean {
		return this.#calls.size === 0 && this.#closing.size === 0;
	}

	/**
	 * Called when a process has died. Its own requests may still arrive, but no caller waits for them. Requests that it was executing fail.
	 */
	died(process: SimulatedProcess): void {
		for (const call of this.#calls) {
			if (call.request.from === process) this.#abandon(call);
			else if (call.state === "running" && call.at?.process === process) {
				this.#answered(call, { ok: false, error: unavailable(call.request, "the connection broke") });
			}
		}
	}

	/** Called when an API server was restarted. Requests and answers on their way to or from it are lost. */
	broke(server: string): void {
		for (const call of Array.from(this.#calls)) {
			if (!call.request.routes().some(({ name }) => name === server)) continue;
			if (call.awaited) this.#deliver(call, { ok: false, error: unavailable(call.request, "the connection broke") });
			else this.#calls.delete(call);
		}
	}

	addSteps(steps: Step[]): void {
		for (const call of this.#calls) this.#stepsOf(call, steps);
		for (const call of this.#closing) {
			if (call.at?.process?.isStopped) continue;
			steps.push({
				kind: "message",
				actor: call.at?.name ?? call.request.cluster,
				what: `learns that ${call.request.from.name} does not wait for ${call.request.what}`,
				run: () => {
					this.#closing.delete(call);
					call.controller?.abort(new Error("the caller is gone"));
				},
			});
		}
	}

	fingerprint(): string {
		const texts = [...this.#calls].map(
			({ request, state, awaited, at, outcome }) =>
				`${request.from.name} ${request.what} ${request.detail()} ${state} ${awaited} ${at?.name} ${outcome ? outcomeText(outcome) : ""}`,
		);
		return [...texts.toSorted(), ...[...this.#closing].map(({ request }) => `closing ${request.what}`)].join("\n");
	}

	#stepsOf(call: Call, steps: Step[]): void {
		const { request, state, awaited } = call;
		if (state === "running") return;
		const isStopped = awaited && request.from.isStopped;
		const { mayFail } = this.#options;
		if (state === "answered") {
			if (isStopped) return;
			steps.push((call.offers.answer ??= this.#answerStep(call)));
			if (mayFail("answerLost", request)) steps.push(this.#faultStep(call, "answerLost", undefined));
			return;
		}
		const routes = request.routes();
		const [first] = routes;
		if (call.offers.first !== first) call.offers = noOffers(first);
		for (const route of routes) if (!route.process?.isStopped) steps.push(this.#arrivalStep(call, route));
		if (!awaited || isStopped) return;
		for (const fault of requestFaults) {
			if (mayFail(fault, request)) steps.push(this.#faultStep(call, fault, undefined));
		}
		if (first && request.mayDouble) {
			for (const fault of doublings) if (mayFail(fault, request)) steps.push(this.#faultStep(call, fault, first));
		}
		if (request.refusal && mayFail("refused", request)) steps.push(this.#faultStep(call, "refused", undefined));
	}

	#answerStep(call: Call): Step {
		const { from, what } = call.request;
		return { kind: "message", actor: from.name, what: `gets the answer to ${what}`, run: () => this.#deliver(call) };
	}

	#arrivalStep(call: Call, route: Route<unknown>): Step {
		const { arrivals } = call.offers;
		const known = arrivals.get(route);
		if (known) return known;
		const { from, what } = call.request;
		const kind = call.awaited ? "message" : "late";
		const run = (): void => this.#execute(call, route);
		const step: Step = { kind, actor: from.name, what: `${what} at ${route.name}`, run };
		arrivals.set(route, step);
		return step;
	}

	#faultStep(call: Call, fault: Fault, route: Route<unknown> | undefined): Step {
		const { faults } = call.offers;
		const known = faults.get(fault);
		if (known) return known;
		const { from, what } = call.request;
		const run = (): void => {
			this.#options.failing(fault, from);
			this.#fail(call, fault, route);
		};
		const step: Step = { kind: "fault", actor: from.name, what: faultText(fault, what, route?.name), run };
		faults.set(fault, step);
		return step;
	}

	#fail(call: Call, fault: Fault, route: Route<unknown> | undefined): void {
		const { request } = call;
		const give = (reason: string): Outcome => ({ ok: false, error: unavailable(request, reason) });
		switch (fault) {
			case "answerLost":
				return this.#deliver(call, give("the answer was lost"));
			case "lost":
				return this.#deliver(call, give("the request was lost"));
			case "gaveUp":
				call.settle(give("no answer in time"));
				return this.#abandon(call);
			case "doubled":
				this.#calls.add({ ...this.#double(call), number: (this.#number += 1) });
				if (route) this.#execute(call, route);
				return;
			case "repeated":
				if (!route) return;
				this.#runAside(call, route);
				return this.#execute(call, route);
			case "refused":
				return this.#answered(call, { ok: true, value: request.refusal?.() });
		}
	}

	/** Returns a copy of the request whose answer goes to no caller. */
	#double(call: Call): Call {
		return { ...call, controller: undefined, awaited: false, settle: () => undefined, offers: noOffers(undefined) };
	}

	#execute(call: Call, route: Route<unknown>): void {
		call.state = "running";
		call.at = route;
		if (!call.awaited) this.#closing.add(call);
		route.process?.learns(() => `is asked ${call.request.what} ${call.request.detail()} by ${call.request.from.name}`);
		let result: unknown;
		try {
			const gone = (): AbortSignal => (call.controller ??= new AbortController()).signal;
			result = route.process ? running.run(route.process, () => route.run(gone)) : route.run(gone);
		} catch (error) {
			this.#answered(call, { ok: false, error });
			return;
		}
		if (!(result instanceof Promise)) {
			this.#closing.delete(call);
			this.#answered(call, { ok: true, value: result });
			return;
		}
		result.then(
			(value: unknown) => this.#finished(call, { ok: true, value }),
			(error: unknown) => this.#finished(call, { ok: false, error }),
		);
	}

	/** Executes a copy of the request for its effect alone. */
	#runAside(call: Call, route: Route<unknown>): void {
		const aside = this.#double(call);
		this.#calls.add(aside);
		this.#execute(aside, route);
	}

	#finished(call: Call, outcome: Outcome): void {
		if (call.at?.process?.alive !== false && call.state === "running") this.#answered(call, outcome);
	}

	#answered(call: Call, outcome: Outcome): void {
		this.#options.onAnswer(call.request, call.at?.name ?? "", outcome, !call.awaited);
		this.#closing.delete(call);
		call.state = "answered";
		call.outcome = outcome;
		if (!call.awaited) this.#calls.delete(call);
		else if (!this.#options.splitAnswers) this.#deliver(call);
	}

	#deliver(call: Call, outcome = call.outcome): void {
		if (call.request.from.isStopped && outcome) {
			// The process receives the outcome when it is resumed.
			call.state = "answered";
			call.outcome = outcome;
			return;
		}
		this.#calls.delete(call);
		if (outcome) call.settle(outcome);
	}

	#giveUp(call: Call, reason: unknown): void {
		if (!this.#calls.has(call) || !call.awaited) return;
		call.settle({ ok: false, error: reason });
		this.#abandon(call);
	}

	#abandon(call: Call): void {
		call.awaited = false;
		call.offers = noOffers(undefined);
		if (call.state === "answered") this.#calls.delete(call);
		else if (call.state === "running") this.#closing.add(call);
	}
}

/** Returns a function that lists a route to each of the current `processes`, always the same route for the same process. */
export function routesTo<P extends SimulatedProcess, T>(
	processes: () => readonly P[],
	run: (process: P, gone: () => AbortSignal) => Promise<T>,
): () => readonly Route<T>[] {
	const routes = new Map<P, Route<T>>();
	const routeTo = (process: P): Route<T> => {
		let route = routes.get(process);
		if (!route) routes.set(process, (route = { name: process.name, process, run: (gone) => run(process, gone) }));
		return route;
	};
	return () => processes().map(routeTo);
}

const requestFaults = ["lost", "gaveUp"] as const;
const doublings = ["doubled", "repeated"] as const;

function noOffers(first: Route<unknown> | undefined): Offers {
	return { first, arrivals: new Map(), faults: new Map() };
}

function unavailable({ what, cluster }: Request<unknown>, why: string): AgentUnavailableError {
	return new AgentUnavailableError(`cannot ${what} in cluster "${cluster}": ${why}`, cluster);
}

function outcomeText(outcome: Outcome): string {
	return outcome.ok ? (JSON.stringify(outcome.value) ?? "undefined") : String(outcome.error);
}
