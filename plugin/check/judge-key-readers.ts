// Reports the ServiceAccounts that can read the CA's key, because that key gives control of the whole fleet.
import type { KubeContext } from "../kubernetes/kube-context.ts";
import { authoritySecret } from "../install/certificate-objects.ts";
import { type ClusterCheck, ofReading, type Reading } from "./check-report.ts";

const mostNamed = 10;

export function judgeKeyReaders(
	reading: Reading<readonly string[] | undefined>,
	{ name, suggest, agents }: Pick<KubeContext, "name" | "suggest" | "agents">,
): ClusterCheck {
	return ofReading(reading, (readers) => {
		if (readers === undefined) return { text: "no key", findings: [] };
		if (readers.length === 0) return { text: "none", findings: [] };
		const more = readers.length - mostNamed;
		const named = [...readers.slice(0, mostNamed), ...(more > 0 ? [`${more} more`] : [])].join(", ");
		const message =
			`Secret ${agents.namespace}/${authoritySecret} can be read by ${named}: ` +
			`each of them can sign a certificate for every member of the fleet`;
		const words = ["get", "rolebindings,clusterrolebindings", "-n", agents.namespace, "-o", "wide"];
		const fix = suggest.kubectl(words, name);
		return { text: String(readers.length), findings: [{ reason: "CaKeyReadable", message, fix }] };
	});
}
