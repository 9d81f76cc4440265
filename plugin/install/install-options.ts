// Reads and checks the flags of install and upgrade before any cluster is asked.
import { isIPv6 } from "node:net";
import { bracketsHint } from "../../disruption/brackets-hint.ts";
import { quote } from "../../disruption/quote.ts";
import { type CommandInput, booleanFlag, listFlag, textFlag, timeoutFlag } from "../flags/command.ts";
import { type DryRun, parseDryRun } from "../flags/dry-run.ts";
import { UsageError } from "../terminal/errors.ts";
import type { TextSink } from "../terminal/streams.ts";
import { type AgentSettingsChoice, readAgentSettingsChoice } from "./agent-settings/agent-settings-flags.ts";
import { type CertificateChoice, readCertificateChoice } from "./certificate-flags.ts";
import { type ExposeChoice, readExposeChoice } from "./expose/expose-flags.ts";
import { type Operators, readOperators } from "./team.ts";

export interface InstallOptions {
	readonly dryRun: DryRun;
	/** For a client-side dry run: print the objects as YAML, not only their names. */
	readonly asYaml: boolean;
	/** The folder in which each cluster gets a subfolder. */
	readonly outputDir: string | undefined;
	readonly image: string | undefined;
	readonly agentSettings: AgentSettingsChoice;
	readonly operators: Operators;
	readonly metricsNamespace: string | undefined;
	/** HOST:PORT by the name of a member or context; "" removes the address. */
	readonly addresses: ReadonlyMap<string, string>;
	readonly expose: ExposeChoice;
	readonly forceConflicts: boolean;
	/** How long the agents of a cluster may take to become ready, and its Service to get an address. */
	readonly timeoutMs: number;
	readonly certificates: CertificateChoice;
	readonly assumeYes: boolean;
}

export function readInstallOptions(input: CommandInput, stderr: TextSink): InstallOptions {
	const dryRun = parseDryRun(textFlag(input, "dry-run"), stderr);
	const outputDir = textFlag(input, "output-dir");
	const output = textFlag(input, "output");
	if (output !== "" && output !== "yaml") throw new UsageError("--output must be 'yaml'");
	if (dryRun !== "client" && (output !== "" || outputDir !== "")) {
		throw new UsageError("--output and --output-dir show the objects without applying them", "Add --dry-run=client");
	}
	return {
		dryRun,
		asYaml: output !== "",
		outputDir: outputDir === "" ? undefined : outputDir,
		image: readImage(input),
		agentSettings: readAgentSettingsChoice(input),
		operators: readOperators(listFlag(input, "operators")),
		metricsNamespace: readObjectName("metrics-namespace", textFlag(input, "metrics-namespace")),
		addresses: readAddresses(listFlag(input, "address")),
		expose: readExposeChoice(input),
		forceConflicts: booleanFlag(input, "force-conflicts"),
		timeoutMs: timeoutFlag(input),
		certificates: readCertificateChoice(input),
		assumeYes: booleanFlag(input, "yes"),
	};
}

/** A host, with or without a port. Only lowercase is accepted, because every host can be written so. */
const registry = /(?:[a-z0-9]+(?:[.-]+[a-z0-9]+)*|\[[0-9a-f:]+\])(?::\d{1,5})?/;
const pathPart = /[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*/;
const tag = /\w[\w.-]{0,127}/;
const digest = /sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}/;
/** Matches image references as registries, kubelets and container runtimes read them (github.com/distribution/reference). */
const imageReference = new RegExp(
	`^(?:${registry.source}/)?${pathPart.source}(?:/${pathPart.source})*(?::${tag.source})?(?:@(?:${digest.source}))?$`,
);

/** Refuses what a container runtime would refuse: otherwise agents whose image cannot be pulled would replace running ones. */
function readImage(input: CommandInput): string | undefined {
	const text = textFlag(input, "image");
	if (text === "" && !input.given.has("image")) return undefined;
	if (text.length <= 500 && imageReference.test(text)) return text;
	throw new UsageError(
		`--image is not a valid image name: ${quote(text)}`,
		"Write it as REGISTRY/NAME:TAG or REGISTRY/NAME@sha256:DIGEST, with lowercase letters in REGISTRY and NAME, and 64 characters in DIGEST",
	);
}

function readObjectName(flag: string, text: string): string | undefined {
	if (text === "") return undefined;
	if (/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(text)) return text;
	throw new UsageError(`--${flag} is not the name of an object: ${quote(text)}`);
}

/** Checks only IPv6 addresses. Agents refuse a list with anything else that is wrong, which is checked with the whole list. */
function readAddresses(texts: readonly string[]): ReadonlyMap<string, string> {
	const found = new Map<string, string>();
	for (const text of texts) {
		const [, name = "", address = ""] = /^(.+)=([^=]*)$/.exec(text) ?? [];
		if (name === "") {
			throw new UsageError(
				`--address is not MEMBER=HOST:PORT: ${quote(text)}`,
				"With nothing behind the = its address is taken away",
			);
		}
		const hint = bracketsHint(address);
		if (hint !== "") throw new UsageError(`--address is not MEMBER=HOST:PORT: ${quote(text)}${hint}`);
		const bracketed = /^\[(.*)\]/.exec(address)?.[1];
		if (bracketed !== undefined && !isIPv6(bracketed)) {
			throw new UsageError(
				`--address has no IPv6 address in brackets: ${quote(text)}`,
				"Write it as [2001:db8::7]:8444",
			);
		}
		if (found.has(name)) throw new UsageError(`--address names ${quote(name)} twice`);
		found.set(name, address);
	}
	return found;
}
