// Hides what must never be printed, at any level of -v: tokens, passwords, keys, and the ids of reservations, which give the right to
// evict. A login's secret of at least six characters, or any secret that looks random, stays hidden wherever it appears again.
import { isRecord } from "../../disruption/record.ts";

const mask = "<masked>";
/** Fields of foreign JSON and of ours. The last one is the annotation of an eviction. */
const secretFields = /^(.*token|.*password|nonce|ids?|client-?key-?data|client-?secret|.*\/reservation)$/i;
const secretText = /-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]+\.[\w-]+\.[\w-]+/;
/** A secret that a user may have chosen is hidden only from this length on, because shorter ones also occur in ordinary words. */
const shortestLogin = 6;
/** Matches a value that looks random. The value of a label "id", for example, may be a plain name. */
const random = /^(?=.*\d)\S{16,}$/;

export class HiddenSecrets {
	readonly #known = new Set<string>();

	learn(secret: string): void {
		if (secret.length >= shortestLogin) this.#known.add(secret);
	}

	hide(text: string): string {
		let hidden = text;
		for (const secret of this.#known) hidden = hidden.replaceAll(secret, mask);
		return hidden;
	}

	/** Returns the value with the secrets in it masked. Those that look random are known from now on. */
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
	// In a pod, a projected token is an object that says where it is mounted, not a secret.
	if (typeof value !== "string" && !Array.isArray(value)) return false;
	// The id of a member is its cluster's id, which is not a secret.
	if (name === "id" && "address" in holder) return false;
	return secretFields.test(name);
}
