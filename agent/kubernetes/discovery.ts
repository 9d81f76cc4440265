// Asks the API server for the resource of a kind, and whether the resource has a scale subresource.
import { AgentUnavailableError } from "../../disruption/errors.ts";
import { isRecord } from "../../disruption/record.ts";
import { groupOf } from "../../disruption/lease/remembered-controllers.ts";
import type { Clock } from "../process/clock.ts";
import type { ApiAsker, AskOptions } from "./api-asker.ts";
import { saidText } from "./api-refusal.ts";

/** An API group other than core, apps and batch answers with a server error. Its own service is probably down, but the API server works. */
export class SilentGroupError extends AgentUnavailableError {
	readonly apiVersion: string;
	readonly said: string;
	constructor(
		message: string,
		{ cluster, apiVersion, said }: Readonly<Record<"cluster" | "apiVersion" | "said", string>>,
	) {
		super(message, cluster);
		this.apiVersion = apiVersion;
		this.said = said;
	}
}

export const serverErrors = [500, 502, 503, 504] as const;

export interface DiscoveredKind {
	/** "/apis/GROUP/VERSION" or "/api/v1". */
	readonly prefix: string;
	readonly plural: string;
	readonly namespaced: boolean;
	readonly hasScale: boolean;
}

export interface Discovery {
	/**
	 * Finds the kind in this version, else in another served version of its group; undefined if none has it. A found kind is remembered for
	 * a minute. A missing kind is not remembered, nor a missing scale outside of the groups core, apps and batch.
	 */
	find(apiVersion: string, kind: string): Promise<DiscoveredKind | undefined>;
	/** Forgets the kinds of this group. Call it when one of them was not as discovered. */
	forget(apiVersion: string): void;
}

/** For example "databases" or "databases/scale". */
const resourceName = /^[a-z0-9-.]+(\/[A-Za-z0-9-.]+)*$/;

/** For example "v1alpha1". */
const versionName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const rememberedMs = 60_000;
const fixedGroups = /^(v1|apps\/.*|batch\/.*)$/;

export function createDiscovery(asker: ApiAsker, clock: Pick<Clock, "now">): Discovery {
	const remembered = new Map<string, { readonly kinds: Promise<ReadonlyMap<string, DiscoveredKind>>; at: number }>();

	function kindsOf(apiVersion: string): Promise<ReadonlyMap<string, DiscoveredKind>> {
		const known = remembered.get(apiVersion);
		if (known && clock.now() - known.at < rememberedMs) return known.kinds;
		const kinds = discover(asker, apiVersion);
		const entry = { kinds, at: clock.now() };
		remembered.set(apiVersion, entry);
		kinds.catch(() => {
			if (remembered.get(apiVersion) === entry) remembered.delete(apiVersion);
		});
		return kinds;
	}

	async function findIn(apiVersion: string, kind: string): Promise<DiscoveredKind | undefined> {
		const before = remembered.get(apiVersion);
		const found = (await kindsOf(apiVersion)).get(kind);
		// If the kind or its scale is missing, the remembered answer may be outdated: a CRD may have been installed or changed since.
		const settled = found?.hasScale === true || (found !== undefined && fixedGroups.test(apiVersion));
		if (settled || remembered.get(apiVersion) !== before) return found;
		remembered.delete(apiVersion);
		return (await kindsOf(apiVersion)).get(kind);
	}

	return {
		async find(apiVersion, kind) {
			const found = await findIn(apiVersion, kind);
			const group = groupOf(apiVersion);
			if (found || group === "") return found;
			// The reference may name a version that is no longer served.
			for (const version of await servedVersions(asker, group)) {
				const other = version === apiVersion ? undefined : await findIn(version, kind);
				if (other) return other;
			}
			return undefined;
		},
		forget(apiVersion) {
			for (const known of remembered.keys()) if (groupOf(known) === groupOf(apiVersion)) remembered.delete(known);
		},
	};
}

/**
 * Returns GROUP/VERSION of each served version; empty if the list of all groups lacks this one. A 404 alone is no proof: any component
 * between the agent and the API server may send it.
 */
async function servedVersions(asker: ApiAsker, group: string): Promise<readonly string[]> {
	const path = "/apis";
	const question: AskOptions = {
		method: "GET",
		path,
		what: `find out about the versions of ${group}`,
		verb: "get",
		resource: path,
		group: "",
	};
	const answer = await asker.ask(question);
	return asker.read(question, () => {
		const groups = isRecord(answer.body) ? answer.body["groups"] : undefined;
		if (!Array.isArray(groups) || !groups.every(isRecord)) throw new TypeError("it has no list of groups");
		// Every API server has this group, so a list without it cannot be trusted.
		if (!groups.some(({ name }) => name === "apps")) throw new TypeError("it has no group apps");
		const found = groups.find(({ name }) => name === group);
		if (!found) return [];
		const { versions } = found;
		if (!Array.isArray(versions) || versions.length === 0) throw new TypeError(`${group} has no list of versions`);
		return versions.map((each: unknown) => {
			const version = isRecord(each) ? each["version"] : undefined;
			if (typeof version !== "string" || !versionName.test(version)) throw new TypeError("a version has no name");
			return `${group}/${version}`;
		});
	});
}

async function discover(asker: ApiAsker, apiVersion: string): Promise<ReadonlyMap<string, DiscoveredKind>> {
	const prefix = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
	const question: AskOptions = {
		method: "GET",
		path: prefix,
		what: `find out about the kinds of ${apiVersion}`,
		verb: "get",
		resource: prefix,
		group: "",
	};
	const answer = await asker.ask(question, 404, ...(fixedGroups.test(apiVersion) ? [] : serverErrors));
	if (answer.status === 404) return new Map();
	if (answer.status >= 500) {
		const { cluster } = asker.connection;
		throw new SilentGroupError(asker.refusal(answer, question).message, {
			cluster,
			apiVersion,
			said: saidText(answer),
		});
	}
	return asker.read(question, () => {
		const resources = isRecord(answer.body) ? answer.body["resources"] : undefined;
		if (!Array.isArray(resources)) throw new TypeError("it has no list of resources");
		const entries = resources.filter(isRecord).map((resource) => {
			const { name, kind, namespaced } = resource;
			if (typeof name !== "string" || !resourceName.test(name) || typeof kind !== "string")
				throw new TypeError("a resource has no name or kind");
			return { name, kind, namespaced: namespaced === true };
		});
		const names = new Set(entries.map(({ name }) => name));
		return new Map(
			entries
				.filter(({ name }) => !name.includes("/"))
				.map(({ name, kind, namespaced }) => [
					kind,
					{ prefix, plural: name, namespaced, hasScale: names.has(`${name}/scale`) },
				]),
		);
	});
}
