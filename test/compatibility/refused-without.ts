import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { AgentProtocolError } from "../../disruption/errors.ts";
import { withoutEachField } from "./missing-fields.ts";
import type { SpokenMessage } from "./spoken-messages.ts";

/** The fields without which today's programs refuse the message; throws where a refusal does not say which one is missing. */
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
