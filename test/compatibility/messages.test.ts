// Tests that agents and plugins of neighbouring versions work in one fleet during an upgrade. Each understands what the other wrote, or
// refuses it by name. The folder kept/ has what earlier versions wrote and read.
import { fromBinary, type JsonObject, toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../scripts/run-command.ts";
import { contractOf, keptFile, keptMessages, keptVersions } from "./kept.ts";
import { saidFields } from "./missing-fields.ts";
import { refusedWithout } from "./refused-without.ts";
import { spokenMessages } from "./spoken-messages.ts";

function spokenAs(type: string) {
	const spoken = spokenMessages[type.replace("xpdb.v1.", "")];
	if (!spoken) throw new Error(`Nobody speaks ${type} any more`);
	return spoken;
}

describe.each(keptVersions.map((version) => ({ version })))(
	"agents and plugins of $version and today's",
	({ version }) => {
		const file = keptFile(version, "contract.binpb");
		const contract = contractOf(file);
		const kept = keptMessages(version);
		const describedAs = (type: string) => {
			const described = contract.getMessage(type);
			if (!described) throw new Error(`${version} has no ${type}`);
			return described;
		};
		/** Returns what that version understands of today's bytes. */
		const asUnderstood = (type: string, bytes: Uint8Array) =>
			toJson(describedAs(type), fromBinary(describedAs(type), bytes));

		test("have a contract of which nothing was taken away", async () => {
			const { code, output } = await runCommand(["buf", "breaking", "--against", file]);
			expect(code, output).toBe(0);
		});

		test("are kept with every message of every call, and every field of it", () => {
			const said = new Set(kept.flatMap(({ type, json }) => [...saidFields(describedAs(type), json as JsonObject)]));
			const spoken = new Set(kept.map(({ type }) => type));
			const service = contract.getService("xpdb.v1.AgentService");
			const asked = service?.methods.flatMap(({ input, output }) => [input.typeName, output.typeName]) ?? [];
			expect(asked.length).toBeGreaterThan(20);
			expect(asked.filter((type) => !spoken.has(type))).toEqual([]);
			const messages = [...contract].filter((described) => described.kind === "message");
			const all = messages.flatMap(({ name, fields }) => fields.map((field) => `${name}.${field.name}`));
			expect(all.filter((field) => !said.has(field))).toEqual([]);
		});

		for (const [index, { type, bytes, json, needed }] of kept.entries()) {
			const { codec, again } = spokenAs(type);
			test(`${type}, sample ${index}: what was written then is understood today, as a whole`, () => {
				const message = codec.decode(Buffer.from(bytes, "base64"));
				const written = codec.encode(again(message as never)).finish();
				expect(asUnderstood(type, written)).toEqual(json);
			});

			test(`${type}, sample ${index}: what is written today was understood then`, () => {
				expect(asUnderstood(type, codec.encode(codec.fromJSON(json)).finish())).toEqual(json);
			});

			test(`${type}, sample ${index}: nothing is needed today that was not needed then, and what is missing is named`, () => {
				const refused = refusedWithout(describedAs(type), spokenAs(type), json as JsonObject);
				expect(refused.filter((path) => !needed.includes(path))).toEqual([]);
			});
		}
	},
);
