// Decides from the flags which settings the agents of each member get. Pure.
import { quote } from "../../../disruption/quote.ts";
import { nearest } from "../../flags/nearest.ts";
import { UsageError } from "../../terminal/errors.ts";
import { type NamedMember, ownValues, readMemberValues, refuseTwice, sharedValues } from "../member-values.ts";
import { type AgentSettings, settingKeys } from "./agent-settings.ts";
import { type AgentSettingsChoice, settingFlags } from "./agent-settings-flags.ts";
import { isTooLittle, leastMemoryMi, memoryBytes } from "./memory-quantity.ts";

/** What the flags change for one cluster. An undefined setting is reset to the shipped value. A setting that is left out stays as it is. */
export type SettingsChange = { readonly [Key in keyof AgentSettings]: AgentSettings[Key] | undefined };

/** Returns the changes by context. Throws UsageError if a value is invalid or given twice, or if its member has no context here. */
export function planAgentSettings(
	members: readonly NamedMember[],
	choice: AgentSettingsChoice,
): ReadonlyMap<string, SettingsChange> {
	const changes = new Map<string, Record<string, unknown>>(members.map(({ context }) => [context, {}]));
	const formOf = forms(choice);
	for (const key of settingKeys) {
		const form: Form = formOf[key];
		const flag = settingFlags[key];
		const isValue = (text: string): boolean => form.isValue?.(text) === true && !mayMeanMember(text, members);
		const values = readMemberValues(flag, choice.texts[key], members, { isValue, mayBeEmpty: true });
		if (!form.isList) refuseTwice(flag, values);
		for (const [context, change] of changes) {
			const own = ownValues(values, context);
			const texts = own.length > 0 ? own : sharedValues(values);
			if (texts.length > 0) change[key] = readSetting(flag, texts, form);
		}
	}
	return changes;
}

/** Whether what is in front of the first "=" may be a mistyped member. The value would otherwise be for all members. */
function mayMeanMember(text: string, members: readonly NamedMember[]): boolean {
	const [, key = "", value = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
	if (key === "" || key.includes("/")) return false;
	const names = members.flatMap((member) => member.names);
	return value === "" || nearest(key, names) !== undefined;
}

interface Form {
	readonly isList?: true;
	/** Whether a text with "=" is a value for all members. */
	readonly isValue?: (text: string) => boolean;
	/** Returns undefined if the texts are not a value of the setting. */
	readonly read: (texts: readonly string[]) => unknown;
	readonly hint: string;
}

function readSetting(flag: string, texts: readonly string[], { read, hint }: Form): unknown {
	if (texts.every((text) => text === "")) return undefined;
	const value = texts.includes("") ? undefined : read(texts);
	if (value === undefined) throw new UsageError(`--${flag} cannot be used: ${texts.map(quote).join(", ")}`, hint);
	return value;
}

const objectName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const prefix = "(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)";
const name = "[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
const label = new RegExp(`^(${prefix}?${name})=((?:${name})?)$`);
const toleration = new RegExp(`^(${prefix}?${name})(?:=((?:${name})?))?(?::(NoSchedule|PreferNoSchedule|NoExecute))?$`);
/** The prefix is required, so that a mistyped member's name in front is not taken for the key. */
const annotation = new RegExp(`^(${prefix}${name})=(.*)$`, "s");
const pullPolicies = ["Always", "IfNotPresent", "Never"];

function forms({ affinities }: AgentSettingsChoice): Readonly<Record<keyof AgentSettings, Form>> {
	return {
		memory: { read: ([text = ""]) => readMemory(text), hint: `Write it as 512Mi or 1Gi, ${leastMemoryMi}Mi at least` },
		cpu: {
			read: ([text = ""]) => (/^(?!0+m?$)(\d{1,6}m|\d{1,3}(\.\d{1,3})?)$/.test(text) ? text : undefined),
			hint: "Write it as 100m or 0.5",
		},
		replicas: {
			read: ([text = ""]) => (/^[1-9]\d?$/.test(text) ? Number(text) : undefined),
			hint: "Write a number from 1 to 99; 2 keep answering while one restarts",
		},
		nodeSelector: {
			isList: true,
			isValue: (text) => label.test(text),
			read: (texts) => pairs(texts, label),
			hint: "Write each label as KEY=VALUE, and no key twice",
		},
		tolerations: {
			isList: true,
			isValue: (text) => toleration.test(text),
			read: readTolerations,
			hint: "Write each as KEY, KEY=VALUE, KEY:EFFECT or KEY=VALUE:EFFECT, with the effect NoSchedule, PreferNoSchedule or NoExecute",
		},
		affinity: { read: ([text = ""]) => affinities.get(text), hint: "Name a YAML file whose name has no =" },
		priorityClass: {
			read: ([text = ""]) => (objectName.test(text) ? text : undefined),
			hint: "Name a PriorityClass: kubectl get priorityclasses",
		},
		annotations: {
			isList: true,
			isValue: (text) => annotation.test(text),
			read: (texts) => pairs(texts, annotation),
			hint: "Write each as PREFIX/NAME=VALUE, and no key twice",
		},
		imagePullPolicy: {
			read: ([text = ""]) => (pullPolicies.includes(text) ? text : undefined),
			hint: `Use one of ${pullPolicies.join(", ")}`,
		},
		imagePullSecrets: {
			read: ([text = ""]) => (objectName.test(text) ? [text] : undefined),
			hint: "It is not the name of an object. Name a Secret in the agents' namespace",
		},
	};
}

/** Undefined if a text does not match, or a key is named twice. */
function pairs(texts: readonly string[], form: RegExp): Readonly<Record<string, string>> | undefined {
	const found = texts.flatMap((text) => {
		const [, key = "", value = ""] = form.exec(text) ?? [];
		return key === "" ? [] : [[key, value] as const];
	});
	const record = Object.fromEntries(found);
	return Object.keys(record).length === texts.length ? record : undefined;
}

/** `*` tolerates every taint. */
function readTolerations(texts: readonly string[]): readonly object[] | undefined {
	const found = texts.flatMap((text): readonly object[] => {
		if (text === "*") return [{ operator: "Exists" }];
		const [, key, value, effect] = toleration.exec(text) ?? [];
		if (key === undefined) return [];
		const matched = value === undefined ? { operator: "Exists" } : { operator: "Equal", value };
		return [{ key, ...matched, ...(effect !== undefined && { effect }) }];
	});
	return found.length === texts.length ? found : undefined;
}

function readMemory(text: string): AgentSettings["memory"] {
	// The request is the limit: the node has this memory when the agent needs it.
	return memoryBytes(text) === undefined || isTooLittle(text) ? undefined : { request: text, limit: text };
}
