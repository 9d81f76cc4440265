import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { AgentProtocolError } from "../../disruption/errors.ts";
import { withoutEachField } from "./missing-fields.ts";
import type { SpokenMessage } from "./spoken-messages.ts";

/** Returns the fields without which today's programs refuse the message. Throws if a refusal does not name the missing field. */
export function refusedWithout(message: DescMessage, { codec, again }: SpokenMessage, json: JsonObject): string[] {
	const refused = new Set<string>();
	for (const without of withoutEachField(message, json)) {
		try {
			again(codec.decode(codec.encode(codec.fromJSON(without.json)).finish()) as never);
		} catch (error) {
			if (!(error instanceof AgentProtocolError)) throw error;
			if (!without.names.some((name) => error.message.includes(name))) {
				throw new Error(`${message.name} without ${without.path} is refused by another name`, { cause: error });
			}
			refused.add(without.path);
		}
	}
	return [...refused].toSorted();
}
