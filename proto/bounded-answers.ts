// Limits the answers of agents before they are decoded.
//
// Guarantee: a member that lists too much, by mistake or as a lie, costs its reader the bytes of one message, but no object for each entry.
// Without this limit, 20,000 budgets took another member's agent over its memory limit.
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { type ChannelCredentials, type ClientOptions, makeGenericClientConstructor } from "@grpc/grpc-js";
import { AgentProtocolError } from "../disruption/errors.ts";
import { type AgentServiceClient, AgentServiceService } from "./gen/xpdb/v1/agent.ts";
import { mostBudgets } from "./most-budgets.ts";

/** Enough for 1,000 budgets of each of fifty members, or for 1,000 candidates with all their labels. About 10 MB as objects. */
const mostParts = 100_000;
/**
 * Limits in bytes, for answers to an agent, whose heap is small, and to the plugin. 1,000 candidates with all their labels are about 1 MB,
 * and so are 5,000 budgets.
 */
export const longestAnswer = { toAgent: 4 * 1024 * 1024, toPlugin: 16 * 1024 * 1024 };

/**
 * What to count in a message, by field number. `budgets` is the field with budgets, and `parts` are the fields whose own parts count too.
 */
interface Shape {
	readonly budgets?: number;
	readonly parts?: Readonly<Record<number, Shape>>;
}

// Field numbers of agent.proto. Tests encode most of these answers, and check that too much in them is refused.
const count: Shape = { budgets: 5, parts: { 8: { parts: { 5: {} } } } };
const budgetList: Shape = { budgets: 3 };
const shapes: Readonly<Record<string, Shape>> = {
	listBudgets: budgetList,
	describe: { parts: { 14: budgetList, 15: { parts: { 14: budgetList } } } },
	count: { parts: { 1: count } },
	acquire: { parts: { 1: { parts: { 2: count } } } },
	watchBudgets: { budgets: 2, parts: { 2: { parts: { 2: count } } } },
};

/** Throws AgentProtocolError if the answer contains too much. */
export function refuseOversized(method: string, answer: Uint8Array): void {
	const parts = tally(answer, shapes[method] ?? {});
	if (parts > mostParts) throw new AgentProtocolError(`it has more than ${mostParts} parts`);
}

/** Counts the parts, but stops above the limit. */
function tally(message: Uint8Array, { budgets: listed, parts: inner = {} }: Shape): number {
	const reader = new BinaryReader(message);
	let parts = 0;
	let budgets = 0;
	while (reader.pos < reader.len && parts <= mostParts) {
		const [field, type] = reader.tag();
		if (type !== WireType.LengthDelimited) {
			reader.skip(type, field);
			continue;
		}
		const part = reader.bytes();
		parts += 1;
		if (field === listed) budgets += 1;
		if (budgets > mostBudgets) throw new AgentProtocolError(`it lists more than ${mostBudgets} budgets`);
		const shape = inner[field];
		if (shape) parts += tally(part, shape);
	}
	return parts;
}

const service = Object.fromEntries(
	Object.entries(AgentServiceService).map(([method, definition]) => [
		method,
		{
			...definition,
			responseDeserialize(answer: Buffer) {
				refuseOversized(method, answer);
				return definition.responseDeserialize(answer);
			},
		},
	]),
);

/** Like the generated client, but an answer that contains too much counts as unreadable. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its methods are the generated ones, as in proto/gen
export const BoundedAgentClient = makeGenericClientConstructor(service, "xpdb.v1.AgentService") as unknown as new (
	address: string,
	credentials: ChannelCredentials,
	options?: Partial<ClientOptions>,
) => AgentServiceClient;
