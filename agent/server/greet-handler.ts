// Greet, only on the peer port: the one call that any cluster with a certificate of the fleet's CA may make, whether it is a member here or
// not (gate.ts). It greets as the cluster that its certificate names, and as no other.
import { type handleUnaryCall, type StatusObject, status } from "@grpc/grpc-js";
import { AgentForbiddenError, AgentProtocolError } from "../../disruption/errors.ts";
import { quote } from "../../disruption/quote.ts";
import type * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import { readGreeting } from "../../proto/greet.ts";
import { statusOfError } from "../../proto/status.ts";
import type { Admission, Caller } from "../peers/caller.ts";
import type { GreetingReceiver } from "../peers/greetings.ts";
import type { AgentServiceOptions } from "./service-options.ts";

/** Without `greetings`, no cluster may greet. */
export function createGreetHandler(
	options: Pick<AgentServiceOptions, "gate" | "watcher" | "greetings" | "openCalls" | "findCaller">,
): handleUnaryCall<wire.GreetRequest, wire.GreetResponse> {
	const { gate, watcher, greetings, openCalls, findCaller } = options;
	return (call, callback) => {
		const startedAt = performance.now();
		const finish = (refusal: Partial<StatusObject> | undefined, response?: wire.GreetResponse): void => {
			watcher.answered({ name: "Greet", port: gate.port, startedAt, code: refusal?.code ?? status.OK });
			if (refusal) callback(refusal);
			else callback(null, response);
		};
		const answerCall = async (): Promise<void> => {
			const known = findCaller?.(call.metadata);
			const admission: Admission = known ? { kind: "admitted", caller: known } : await gate.admit(call);
			if (admission.kind === "refused") return finish(admission.status);
			const end = openCalls.begin(admission.caller);
			try {
				finish(undefined, await answer(call.request, admission.caller, greetings));
			} finally {
				end();
			}
		};
		answerCall().catch((error: unknown) => {
			watcher.failed("Greet", error);
			finish(statusOfError(error));
		});
	};
}

async function answer(
	request: wire.GreetRequest,
	caller: Caller,
	greetings: GreetingReceiver | undefined,
): Promise<wire.GreetResponse> {
	// A caller with a token could name clusters that do not exist.
	if (caller.kind !== "peer" || !greetings) throw new AgentForbiddenError("Cannot be greeted on this port");
	const { id, name } = greetings;
	if (request.clusterId !== id) {
		throw new AgentProtocolError(
			`Cannot pass a greeting on: cluster "${name}" has id "${id}", greeted is ${quote(request.clusterId)}`,
		);
	}
	const greeting = readGreeting(request);
	if (greeting.id !== caller.member) {
		throw new AgentForbiddenError(
			`Cannot be greeted by cluster id ${quote(greeting.id)} with a certificate for "${caller.member}"`,
		);
	}
	const { memberIds, listed, forgotten } = await greetings.receive(greeting);
	return { clusterId: id, clusterName: name, memberIds: [...memberIds], listed, forgotten };
}
