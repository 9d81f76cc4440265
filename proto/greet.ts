// Sends and reads greetings: an agent tells another agent the id of its cluster, and the members that its cluster declares.
import { Metadata } from "@grpc/grpc-js";
import { AgentProtocolError } from "../disruption/errors.ts";
import { quote } from "../disruption/quote.ts";
import { requiredText } from "./fields.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";
import { callUnary, type UnaryCall } from "./unary.ts";

export interface Greeting {
	readonly id: string;
	/** The name that the greeter's cluster gives itself, or "". */
	readonly name: string;
	/** The members that the greeter declares. */
	readonly memberIds: readonly string[];
}

export interface GreetingReply {
	readonly memberIds: readonly string[];
	/** Whether the greeter is one of `memberIds`. */
	readonly listed: boolean;
	/** Whether the greeted cluster lists the greeter as forgotten. */
	readonly forgotten: boolean;
}

/** More members than a fleet will have, and few enough for one message. */
export const maxGreetedMembers = 1_000;
const maxIdLength = 253;

function greetingMessage({ id, name, memberIds }: Greeting, clusterId: string): wire.GreetRequest {
	return { clusterId, fromId: id, fromName: name, memberIds: [...memberIds] };
}

/** Throws AgentProtocolError if the greeting is invalid. */
export function readGreeting({ fromId, fromName, memberIds }: wire.GreetRequest): Greeting {
	const id = requiredText(fromId, "from_id");
	if (id.length > maxIdLength) throw new AgentProtocolError("from_id is longer than 253");
	assertMemberIds(memberIds);
	return { id, name: fromName, memberIds };
}

function assertMemberIds(ids: readonly string[]): void {
	if (ids.length > maxGreetedMembers || ids.some((id) => id === "" || id.length > maxIdLength)) {
		throw new AgentProtocolError(`member_ids are more than ${maxGreetedMembers}, or not ids`);
	}
}

interface GreetOptions {
	/** The cluster that the client reaches. */
	readonly to: { readonly id: string; readonly name: string };
	readonly greeting: Greeting;
	readonly deadlineMs: number;
}

/**
 * Rejects as every call does. If the agent does not support greetings, it rejects with an AgentProtocolError whose cause has the code
 * UNIMPLEMENTED.
 */
export async function greetAgent(
	client: Pick<wire.AgentServiceClient, "greet">,
	{ to, greeting, deadlineMs }: GreetOptions,
): Promise<GreetingReply> {
	const call: UnaryCall<wire.GreetResponse> = (...rest) => client.greet(greetingMessage(greeting, to.id), ...rest);
	const answer = await callUnary(call, {
		name: "Greet",
		cluster: to.name,
		metadata: new Metadata(),
		deadlineMs,
		open: new Set(),
	});
	if (answer.clusterId !== to.id) {
		throw new AgentProtocolError(
			`cannot use the answer to Greet of cluster "${to.name}": greeted cluster id "${to.id}", got ${quote(answer.clusterId)}`,
		);
	}
	assertMemberIds(answer.memberIds);
	return { memberIds: answer.memberIds, listed: answer.listed, forgotten: answer.forgotten };
}
