// What is never printed, however much is asked for with -v: tokens, passwords, keys, and the ids of reservations, which are a right to evict.
// Whatever was found to be one once stays hidden wherever it comes up again, in an error or a name.
import { isRecord } from "../../disruption/record.ts";

const mask = "<masked>";
/** Of foreign and own JSON; the last is the annotation of an eviction. */
const secretFields = /^(.*token|.*password|nonce|ids?|client-?key-?data|client-?secret|.*\/reservation)$/i;
const secretText = /-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]+\.[\w-]+\.[\w-]+/;
/** What somebody may have chosen: shorter ones are in ordinary words as well. */
const shortestLogin = 6;
/** What was made at random, unlike a label "id" whose value is a name. */
const random = /^(?=.*\d)\S{16,}$/;

export class HiddenSecrets {
	readonly #known = new Set<string>();

	/** Of a login. */
	learn(secret: string): void {
		if (secret.length >= shortestLogin) this.#known.add(secret);
	}

	/** The text without any secret that is known. */
	hide(text: string): string {
		let hidden = text;
		for (const secret of this.#known) hidden = hidden.replaceAll(secret, mask);
		return hidden;
	}

	/** The value without the secrets in it, which are known from now on. */
	masked(value: unknown): unknown {
		return this.#mask(value, false);
	}

	#mask(value: unknown, isSecret: boolean): unknown {
		if (typeof value === "bigint") return String(value);
		if (typeof value === "string") {
			if (value === "" || !(isSecret || secretText.test(value))) return value;
			if (random.test(value)) this.#known.add(value);
			return mask;
		}
		if (Array.isArray(value)) return value.map((each) => this.#mask(each, isSecret));
		if (!isRecord(value)) return value;
		const kind = value["kind"];
		return Object.fromEntries(
			Object.entries(value).map(([name, each]) => [
				name,
				kind === "SecretList" && name === "items" && Array.isArray(each)
					? each.map((item: unknown) => this.#mask(isRecord(item) ? { ...item, kind: "Secret" } : item, isSecret))
					: this.#mask(each, isSecret || isSecretField(name, each, value)),
			]),
		);
	}
}

function isSecretField(name: string, value: unknown, holder: Readonly<Record<string, unknown>>): boolean {
	if (holder["kind"] === "Secret" && (name === "data" || name === "stringData")) return true;
	// A projected token of a pod says where it is mounted.
	if (typeof value !== "string" && !Array.isArray(value)) return false;
	// The id of a member is its cluster's, which everybody may know.
	if (name === "id" && "address" in holder) return false;
	return secretFields.test(name);
}
