// Answers Greet on the peer port. Any cluster with a certificate of the fleet's CA may greet, member or not (gate.ts), but only as the
// cluster that its certificate names.
import { AgentForbiddenError, AgentProtocolError } from "../../disruption/errors.ts";
import { quote } from "../../disruption/quote.ts";
import type * as wire from "../../proto/gen/xpdb/v1/agent.ts";
import { readGreeting } from "../../proto/greet.ts";
import type { Caller } from "../peers/caller.ts";
import type { GreetingReceiver } from "../peers/greetings.ts";

export async function handleGreet(
	request: wire.GreetRequest,
	caller: Caller,
	greetings: GreetingReceiver | undefined,
): Promise<wire.GreetResponse> {
	// A caller with a token could name clusters that do not exist.
	if (caller.kind !== "peer" || !greetings) throw new AgentForbiddenError("cannot be greeted on this port");
	const { id, name } = greetings;
	if (request.clusterId !== id) {
		throw new AgentProtocolError(
			`cannot pass a greeting on: cluster "${name}" has id "${id}", greeted is ${quote(request.clusterId)}`,
		);
	}
	const greeting = readGreeting(request);
	if (greeting.id !== caller.member) {
		throw new AgentForbiddenError(
			`cannot be greeted by cluster id ${quote(greeting.id)} with a certificate for "${caller.member}"`,
		);
	}
	const { memberIds, listed, forgotten } = await greetings.receive(greeting);
	return { clusterId: id, clusterName: name, memberIds: [...memberIds], listed, forgotten };
}
