// Decides from the flags which Service each member gets. Pure.
import { isIP } from "node:net";
import { quote } from "../../../disruption/quote.ts";
import { nearest } from "../../flags/nearest.ts";
import { UsageError } from "../../terminal/errors.ts";
import {
	type MemberValue,
	type NamedMember,
	ownValues,
	readMemberValues,
	refuseTwice,
	sharedValues,
} from "../member-values.ts";
import type { ExposeChoice } from "./expose-flags.ts";
import { exposePresets } from "./expose-presets.ts";
import { type Exposure, type ExposureKind, exposureKinds } from "./exposure.ts";

/** Returns the wanted Services by context. A member is missing if no flag applies to it. Throws UsageError. */
export function planExposures(
	members: readonly NamedMember[],
	choice: ExposeChoice,
): ReadonlyMap<string, Exposure | "none"> {
	const kinds = readMemberValues("expose", choice.kinds, members);
	const classes = readMemberValues("expose-class", choice.classes, members);
	const annotations = readMemberValues("expose-annotation", choice.annotations, members, {
		isValue: (text) => annotationPattern.test(text),
		hint: "; a key that a cloud reads has a prefix with a slash",
	});
	const sources = readMemberValues("expose-source", choice.sources, members);
	refuseTwice("expose", kinds);
	refuseTwice("expose-class", classes);
	const wanted = new Map(
		members.flatMap(({ context }): readonly (readonly [string, Exposure | "none"])[] => {
			const text = ownValues(kinds, context)[0] ?? sharedValues(kinds)[0];
			if (text === undefined) return [];
			const { kind, preset } = readKind(text);
			if (kind === "none") return [[context, kind]];
			const loadBalancerClass = ownValues(classes, context)[0] ?? sharedValues(classes)[0] ?? preset?.loadBalancerClass;
			const ownSources = ownValues(sources, context);
			const exposure: Exposure = {
				kind,
				...(kind === "loadbalancer" &&
					loadBalancerClass !== undefined && { loadBalancerClass: readClass(loadBalancerClass) }),
				annotations:
					kind === "loadbalancer"
						? {
								...preset?.annotations,
								...readAnnotations(annotations, undefined),
								...readAnnotations(annotations, context),
							}
						: {},
				sources:
					kind === "loadbalancer" ? (ownSources.length > 0 ? ownSources : sharedValues(sources)).map(readSource) : [],
			};
			return [[context, exposure]];
		}),
	);
	refuseUnused({ classes, annotations, sources }, wanted);
	return wanted;
}

function readKind(text: string): {
	readonly kind: ExposureKind;
	readonly preset: (typeof exposePresets)[string] | undefined;
} {
	const [, name = "", preset] = /^([^:]*)(?::(.*))?$/.exec(text) ?? [];
	const kind = exposureKinds.find((each) => each === name);
	if (!kind) throw new UsageError(`--expose is one of ${exposureKinds.join(", ")}: ${quote(text)}`);
	if (preset === undefined) return { kind, preset: undefined };
	if (kind !== "loadbalancer" || !Object.hasOwn(exposePresets, preset)) {
		const known = Object.keys(exposePresets);
		const meant = nearest(preset, known);
		throw new UsageError(
			`--expose has no preset ${quote(text)}: there are ${known.map((each) => `loadbalancer:${each}`).join(", ")}`,
			meant === undefined ? undefined : `Did you mean loadbalancer:${meant}?`,
		);
	}
	return { kind, preset: exposePresets[preset] };
}

/** Checks only the characters and the length. The API server reports any other problem of a class. */
function readClass(text: string): string {
	if (/^[a-z0-9]([-a-z0-9./]{0,300}[A-Za-z0-9])?$/.test(text)) return text;
	throw new UsageError(`--expose-class is not a loadBalancerClass: ${quote(text)}`);
}

const annotationPattern = /^([a-z0-9][-a-z0-9.]*\/[A-Za-z0-9][-A-Za-z0-9_.]*)=(.*)$/s;

function readAnnotations(
	values: readonly MemberValue[],
	context: string | undefined,
): Readonly<Record<string, string>> {
	const found = new Map<string, string>();
	for (const { value } of values.filter((each) => each.context === context)) {
		const [, key = "", text = ""] = annotationPattern.exec(value) ?? [];
		if (key === "") {
			throw new UsageError(
				`--expose-annotation is not KEY=VALUE: ${quote(value)}`,
				"A key that a cloud reads has a prefix: service.beta.kubernetes.io/azure-load-balancer-internal=true",
			);
		}
		if (found.has(key)) throw new UsageError(`--expose-annotation names ${quote(key)} twice`);
		found.set(key, text);
	}
	return Object.fromEntries(found);
}

function readSource(text: string): string {
	const [, address = "", bits = ""] = /^([0-9a-fA-F:.]+)\/([0-9]{1,3})$/.exec(text) ?? [];
	const longest = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
	if (Number(bits) <= longest) return text;
	throw new UsageError(`--expose-source is not a CIDR: ${quote(text)}`, "Write it as 203.0.113.0/24 or 2001:db8::/32");
}

/** Refuses settings of a load balancer that will not exist: the user would think that they are in effect. */
function refuseUnused(
	values: Readonly<Record<"classes" | "annotations" | "sources", readonly MemberValue[]>>,
	wanted: ReadonlyMap<string, Exposure | "none">,
): void {
	const balanced = [...wanted].flatMap(([context, exposure]) =>
		exposure !== "none" && exposure.kind === "loadbalancer" ? [context] : [],
	);
	const flags = [
		["expose-class", values.classes],
		["expose-annotation", values.annotations],
		["expose-source", values.sources],
	] as const;
	for (const [flag, all] of flags) {
		const unused = all.find(({ context }) =>
			context === undefined ? balanced.length === 0 : !balanced.includes(context),
		);
		if (!unused) continue;
		throw new UsageError(
			`--${flag} is of a load balancer, and ${unused.context === undefined ? "no member gets one" : `${unused.context} gets none`}`,
			`Add --expose=${unused.context === undefined ? "" : `${unused.context}=`}loadbalancer`,
		);
	}
}
