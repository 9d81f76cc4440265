import { describe, expect, test } from "vitest";
import type { ExposeChoice } from "../../../plugin/install/expose/expose-flags.ts";
import { planExposures } from "../../../plugin/install/expose/plan-exposures.ts";

const members = [
	{ context: "arn:aws:eks:x:1:cluster/eu=1", names: ["arn:aws:eks:x:1:cluster/eu=1", "eu"] },
	{ context: "us", names: ["us"] },
];
const [eu] = members.map(({ context }) => context);

function plan(choice: Partial<ExposeChoice>) {
	const nothing = { kinds: [], classes: [], annotations: [], sources: [] };
	return Object.fromEntries(planExposures(members, { ...nothing, ...choice }));
}

const plain = { annotations: {}, sources: [] };
const scheme = "service.beta.kubernetes.io/aws-load-balancer-scheme";
const target = "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type";

describe("planExposures()", () => {
	test("says nothing of members of whom nothing is said", () => {
		expect(plan({})).toEqual({});
		expect(plan({ kinds: ["us=nodeport"] })).toEqual({ us: { kind: "nodeport", ...plain } });
	});

	test("takes a member's own word before that for all, by the fleet's name and the context's", () => {
		const balanced = { kind: "loadbalancer", ...plain };
		expect(plan({ kinds: ["loadbalancer", "us=none"] })).toEqual({ [`${eu}`]: balanced, us: "none" });
		expect(plan({ kinds: ["eu=loadbalancer"] })).toEqual({ [`${eu}`]: balanced });
		expect(plan({ kinds: [`${eu}=loadbalancer`] })).toEqual({ [`${eu}`]: balanced });
	});

	test("gives a load balancer what its cloud reads, by preset, for all, and of its own", () => {
		const wanted = plan({
			kinds: ["eu=loadbalancer:eks-internal", "us=loadbalancer:gke-internal"],
			classes: ["us=example.com/inside"],
			annotations: ["example.com/tags=a=b,c=d", `eu=${target}=instance`, "us=example.com/tags="],
			sources: ["10.0.0.0/8", "us=2001:db8::/32", "us=192.0.2.0/24"],
		});
		expect(wanted).toEqual({
			[`${eu}`]: {
				kind: "loadbalancer",
				loadBalancerClass: "service.k8s.aws/nlb",
				annotations: { [scheme]: "internal", [target]: "instance", "example.com/tags": "a=b,c=d" },
				sources: ["10.0.0.0/8"],
			},
			us: {
				kind: "loadbalancer",
				loadBalancerClass: "example.com/inside",
				annotations: {
					"networking.gke.io/load-balancer-type": "Internal",
					"networking.gke.io/internal-load-balancer-allow-global-access": "true",
					"example.com/tags": "",
				},
				sources: ["2001:db8::/32", "192.0.2.0/24"],
			},
		});
	});

	test("asks AWS for a load balancer of both IP versions where the pods have IPv6 addresses", () => {
		const version = "service.beta.kubernetes.io/aws-load-balancer-ip-address-type";
		const wanted = plan({ kinds: ["eu=loadbalancer:eks-dualstack", "us=loadbalancer:eks-internal-dualstack"] });
		expect(wanted).toMatchObject({
			[`${eu}`]: { annotations: { [scheme]: "internet-facing", [target]: "ip", [version]: "dualstack" } },
			us: { annotations: { [scheme]: "internal", [target]: "ip", [version]: "dualstack" } },
		});
		expect(plan({ kinds: ["us=loadbalancer:eks"] })).not.toMatchObject({
			us: { annotations: { [version]: "dualstack" } },
		});
	});

	const refused: readonly { readonly name: string; readonly choice: Partial<ExposeChoice>; readonly says: string }[] = [
		{
			name: "another kind",
			choice: { kinds: ["ingress"] },
			says: '--expose is one of loadbalancer, nodeport, none: "ingress"',
		},
		{
			name: "nobody's",
			choice: { kinds: ["ap=none"] },
			says: '--expose names no member that has a context here: "ap=none"',
		},
		{ name: "nothing", choice: { kinds: ["eu="] }, says: "--expose has no value for eu" },
		{
			name: "two things of one",
			choice: { kinds: ["us=none", "us=nodeport"] },
			says: "--expose says two things of us",
		},
		{
			name: "an unknown preset",
			choice: { kinds: ["loadbalancer:gke-intern"] },
			says: '--expose has no preset "loadbalancer:gke-intern": there are loadbalancer:eks,',
		},
		{ name: "a preset of a node port", choice: { kinds: ["nodeport:eks"] }, says: "--expose has no preset" },
		{
			name: "a class that is none",
			choice: { kinds: ["loadbalancer"], classes: ["a b"] },
			says: '--expose-class is not a loadBalancerClass: "a b"',
		},
		{
			name: "an annotation without a value",
			choice: { kinds: ["loadbalancer"], annotations: ["us=example.com/a"] },
			says: '--expose-annotation is not KEY=VALUE: "example.com/a"',
		},
		{
			name: "an annotation of nobody",
			choice: { kinds: ["loadbalancer"], annotations: ["ap=example.com/a=b"] },
			says: "--expose-annotation names no member",
		},
		{
			name: "an annotation twice",
			choice: { kinds: ["loadbalancer"], annotations: ["example.com/a=b", "example.com/a=c"] },
			says: '--expose-annotation names "example.com/a" twice',
		},
		{
			name: "a source that is an address",
			choice: { kinds: ["loadbalancer"], sources: ["10.0.0.1"] },
			says: '--expose-source is not a CIDR: "10.0.0.1"',
		},
		{ name: "too many bits", choice: { kinds: ["loadbalancer"], sources: ["10.0.0.1/33"] }, says: "is not a CIDR" },
		{
			name: "a class where there is no load balancer",
			choice: { kinds: ["nodeport"], classes: ["example.com/x"] },
			says: "--expose-class is of a load balancer, and no member gets one",
		},
		{
			name: "an annotation of a member without one",
			choice: { kinds: ["eu=loadbalancer", "us=nodeport"], annotations: ["us=example.com/a=b"] },
			says: "--expose-annotation is of a load balancer, and us gets none",
		},
		{
			name: "sources of a member of whom nothing is said",
			choice: { sources: ["us=10.0.0.0/8"] },
			says: "--expose-source is of a load balancer, and us gets none",
		},
	];
	test.each(refused)("refuses $name", ({ choice, says }) => {
		expect(() => plan(choice)).toThrow(says);
	});
});
