// A greeting: one agent tells another one that it takes the other's cluster for a member of its fleet.
import { Metadata } from "@grpc/grpc-js";
import { AgentProtocolError } from "../disruption/errors.ts";
import { quote } from "../disruption/quote.ts";
import { requiredText } from "./fields.ts";
import type * as wire from "./gen/xpdb/v1/agent.ts";
import { callUnary, type UnaryCall } from "./unary.ts";

export interface Greeting {
	/** The greeter's cluster. */
	readonly id: string;
	/** As it calls itself; "" where it does not. */
	readonly name: string;
	/** The members that it declares. */
	readonly memberIds: readonly string[];
}

export interface GreetingReply {
	readonly memberIds: readonly string[];
	/** The greeter is one of these. */
	readonly listed: boolean;
	/** The greeter was forgotten there, by name. */
	readonly forgotten: boolean;
}

/** More members than a fleet will have, and fewer than fill a message. */
export const maxGreetedMembers = 1_000;
const maxIdLength = 253;

function greetingMessage({ id, name, memberIds }: Greeting, clusterId: string): wire.GreetRequest {
	return { clusterId, fromId: id, fromName: name, memberIds: [...memberIds] };
}

/** Throws AgentProtocolError on what cannot be a greeting. */
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
	/** Whom the client leads to. */
	readonly to: { readonly id: string; readonly name: string };
	readonly greeting: Greeting;
	readonly deadlineMs: number;
}

/** Rejects as every call does; AgentProtocolError with UNIMPLEMENTED where the agent does not know greetings yet. */
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
			`Cannot use the answer to Greet of cluster "${to.name}": greeted cluster id "${to.id}", got ${quote(answer.clusterId)}`,
		);
	}
	assertMemberIds(answer.memberIds);
	return { memberIds: answer.memberIds, listed: answer.listed, forgotten: answer.forgotten };
}
