// `node test/compatibility/record.ts` records in kept/MAJOR.MINOR what programs of this version write. Run it for each minor release, and
// never again after the release.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromBinary, type JsonObject, toJson } from "@bufbuild/protobuf";
import { repositoryRoot } from "../../scripts/repository-root.ts";
import { contractOf, type KeptMessage, keptFile } from "./kept.ts";
import { refusedWithout } from "./refused-without.ts";
import { spokenMessages } from "./spoken-messages.ts";
import { writtenAnnotations } from "./written-annotations.ts";

const { version } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as { version: string };
const minor = version.split(".").slice(0, 2).join(".");
const write = (name: string, value: unknown): void =>
	writeFileSync(keptFile(minor, name), `${JSON.stringify(value, undefined, "\t")}\n`);

mkdirSync(keptFile(minor, "."), { recursive: true });
const contractFile = keptFile(minor, "contract.binpb");
const buf = join(repositoryRoot, "node_modules", ".bin", "buf");
execFileSync(buf, ["build", "--exclude-source-info", "-o", contractFile], { cwd: repositoryRoot });
const contract = contractOf(contractFile);
const messages = Object.entries(spokenMessages).flatMap(([name, spoken]) => {
	const type = `xpdb.v1.${name}`;
	const described = contract.getMessage(type);
	if (!described) throw new Error(`There is no message ${type}`);
	return spoken.samples.map((sample): KeptMessage => {
		const bytes = spoken.codec.encode(spoken.codec.fromJSON(sample)).finish();
		const json = toJson(described, fromBinary(described, bytes)) as JsonObject;
		return {
			type,
			bytes: Buffer.from(bytes).toString("base64"),
			json,
			needed: refusedWithout(described, spoken, json),
		};
	});
});
write("messages.json", messages);
write("annotations.json", writtenAnnotations);
copyFileSync(join(repositoryRoot, "agent", "deploy", "crd.yaml"), keptFile(minor, "crd.yaml"));
console.log(`kept ${messages.length} messages of version ${minor}`);
