// Reads the fields of a kubeconfig and of an exec plugin's answer by their types, as client-go does (tools/clientcmd/api/v1/types.go). A
// field of the wrong type is an error. Unknown fields are skipped.
import { quote } from "../../disruption/quote.ts";
import { isRecord } from "../../disruption/record.ts";
import type { KubeconfigEntry } from "./kubeconfig-entry.ts";
import { isBase64 } from "./yaml-scalar.ts";

/** Throws FieldError. `field`: the path for the message. */
type FieldType<T> = (value: unknown, field: string) => T;

export class FieldError extends Error {
	override readonly name = "FieldError";
	/** For example "users[0].user.exec.args[1]". */
	readonly field: string;
	readonly problem: string;
	constructor(field: string, problem: string) {
		super(`${field} ${problem}`);
		this.field = field;
		this.problem = problem;
	}
}

const text: FieldType<string> = (value, field) => {
	if (typeof value === "string") return value;
	const isScalar = typeof value === "number" || typeof value === "boolean";
	throw wrongType(field, value, isScalar ? "a string: put it in quotes" : "a string");
};

const flag: FieldType<boolean> = (value, field) => {
	if (typeof value === "boolean") return value;
	throw wrongType(field, value, "true or false");
};

/** Base64, or a list of bytes, which Go's JSON also accepts. */
const bytes: FieldType<string> = (value, field) => {
	if (Array.isArray(value)) {
		const isByte = (each: unknown): boolean =>
			each === null || (Number.isInteger(each) && Number(each) >= 0 && Number(each) < 256);
		if (!value.every(isByte)) throw new FieldError(field, "is a list of something else than bytes");
		return Buffer.from(value.map(Number)).toString("base64");
	}
	if (typeof value !== "string") throw wrongType(field, value, "a string");
	const packed = value.replaceAll(/[\r\n]/g, "");
	if (!isBase64(packed)) throw new FieldError(field, "is not base64");
	return Buffer.from(packed, "base64").toString("base64");
};

function listOf<T>(type: FieldType<T>, empty: T): FieldType<readonly T[]> {
	return (value, field) => {
		if (!Array.isArray(value)) throw wrongType(field, value, "a list");
		return value.map((item: unknown, index) => (item === null ? empty : type(item, `${field}[${index}]`)));
	};
}

function mapOf<T>(type: FieldType<T>, empty: T): FieldType<Readonly<Record<string, T>>> {
	return (value, field) => {
		if (!isRecord(value)) throw wrongType(field, value, "a map");
		return Object.fromEntries(
			Object.entries(value).map(([key, each]) => [key, each === null ? empty : type(each, `${field}.${key}`)]),
		);
	};
}

function fieldsOf(types: Readonly<Record<string, FieldType<unknown>>>): FieldType<KubeconfigEntry> {
	return (value, field) => {
		if (!isRecord(value)) throw wrongType(field, value, "a map");
		return Object.fromEntries(
			Object.entries(types)
				.filter(([name]) => Object.hasOwn(value, name) && value[name] !== null)
				.map(([name, type]) => [name, type(value[name], field === "" ? name : `${field}.${name}`)]),
		);
	};
}

function wrongType(field: string, value: unknown, expected: string): FieldError {
	return new FieldError(field, `is ${nameOfType(value)}, not ${expected}`);
}

function nameOfType(value: unknown): string {
	if (Array.isArray(value)) return "a list";
	if (typeof value === "object") return "a map";
	return typeof value === "boolean" ? "a boolean" : `a ${typeof value}`;
}

const extensionList = listOf(fieldsOf({ name: text, extension: (value) => value }), {});

/** As in client-go, the last entry of a name wins. A repeated name is an error only if the earlier entry has content. */
const extensions: FieldType<readonly KubeconfigEntry[]> = (value, field) => {
	const byName = new Map<unknown, KubeconfigEntry>();
	for (const each of extensionList(value, field)) {
		const { name = "" } = each;
		if (byName.get(name)?.["extension"] !== undefined) throw doubledName(field, name);
		byName.set(name, each);
	}
	return [...byName.values()];
};

function doubledName(field: string, name: unknown): FieldError {
	return new FieldError(field, `has the name ${quote(name)} twice`);
}

/** Throws FieldError if two entries have the same name. A missing name counts as "". */
export function refuseDoubledNames(list: readonly KubeconfigEntry[], field: string): void {
	const names = new Set<unknown>();
	for (const { name = "" } of list) {
		if (names.has(name)) throw doubledName(field, name);
		names.add(name);
	}
}

const cluster = fieldsOf({
	server: text,
	"tls-server-name": text,
	"insecure-skip-tls-verify": flag,
	"certificate-authority": text,
	"certificate-authority-data": bytes,
	"proxy-url": text,
	"disable-compression": flag,
	extensions,
});

const execFields = fieldsOf({
	command: text,
	args: listOf(text, ""),
	env: listOf(fieldsOf({ name: text, value: text }), {}),
	apiVersion: text,
	installHint: text,
	provideClusterInfo: flag,
	interactiveMode: text,
});

/** Only the versions before v1 have a default mode. */
const exec: FieldType<KubeconfigEntry> = (value, field) => {
	const fields = execFields(value, field);
	const isOld = /^client\.authentication\.k8s\.io\/v1(alpha1|beta1)$/.test(String(fields["apiVersion"]));
	return isOld && !fields["interactiveMode"] ? { ...fields, interactiveMode: "IfAvailable" } : fields;
};

const user = fieldsOf({
	"client-certificate": text,
	"client-certificate-data": bytes,
	"client-key": text,
	"client-key-data": bytes,
	token: text,
	tokenFile: text,
	as: text,
	"as-uid": text,
	"as-groups": listOf(text, ""),
	"as-user-extra": mapOf(listOf(text, ""), []),
	username: text,
	password: text,
	"auth-provider": fieldsOf({ name: text, config: mapOf(text, "") }),
	exec,
	extensions,
});

const context = fieldsOf({ cluster: text, user: text, namespace: text, extensions });

export const entryLists = { clusters: "cluster", users: "user", contexts: "context" } as const;

const config = fieldsOf({
	kind: text,
	apiVersion: text,
	preferences: fieldsOf({ colors: flag, extensions }),
	clusters: listOf(fieldsOf({ name: text, cluster }), {}),
	users: listOf(fieldsOf({ name: text, user }), {}),
	contexts: listOf(fieldsOf({ name: text, context }), {}),
	"current-context": text,
	extensions,
});

export function readConfigFields(content: KubeconfigEntry): KubeconfigEntry {
	return config(content, "");
}

/** The answer of an exec plugin (client.authentication.k8s.io, ExecCredential). Throws FieldError. */
export function readCredentialFields(answer: KubeconfigEntry): KubeconfigEntry {
	return credential(answer, "");
}

const credential = fieldsOf({
	kind: text,
	apiVersion: text,
	status: fieldsOf({ expirationTimestamp: text, token: text, clientCertificateData: text, clientKeyData: text }),
});
