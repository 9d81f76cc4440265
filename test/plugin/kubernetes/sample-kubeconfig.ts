// Makes kubeconfigs with one context. A certificate, its key and a token are in the same folder.
import { readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { type Connection, resolveConnection } from "../../../plugin/kubernetes/connection.ts";
import { type Kubeconfig, loadKubeconfig } from "../../../plugin/kubernetes/kubeconfig.ts";
import { certificate, privateKey } from "../../support/sample-certificate.ts";
import { createScratchFolder, type ScratchFolder } from "./scratch-folder.ts";

export type Entry = Readonly<Record<string, unknown>>;

export interface KubeconfigParts {
	readonly cluster?: Entry;
	readonly user?: Entry;
	readonly context?: Entry;
	readonly currentContext?: string;
}

interface SampleKubeconfig extends ScratchFolder {
	/** Loads a kubeconfig with one context "a", its cluster "one" and its user "u". */
	readonly load: (parts?: KubeconfigParts) => Kubeconfig;
	readonly connect: (parts?: KubeconfigParts, flags?: Entry, context?: string) => Connection;
}

export const certificateData = Buffer.from(certificate).toString("base64");

export function createSampleKubeconfig(name: string): SampleKubeconfig {
	const scratch = createScratchFolder(name);
	const { write } = scratch;
	write("ca.crt", certificate);
	write("client.key", privateKey);
	write("token", "from-file");

	function load({ cluster = {}, user = {}, context = {}, currentContext = "a" }: KubeconfigParts = {}): Kubeconfig {
		const content = {
			"current-context": currentContext,
			clusters: [{ name: "one", cluster: { server: "https://one", ...cluster } }],
			users: [{ name: "u", user }],
			contexts: [{ name: "a", context: { cluster: "one", user: "u", ...context } }],
		};
		return loadKubeconfig(readGlobalFlags({ kubeconfig: write("kubeconfig", JSON.stringify(content)) }), {});
	}

	return {
		...scratch,
		load,
		connect: (parts = {}, flags = {}, context) => resolveConnection(load(parts), context, readGlobalFlags(flags), {}),
	};
}
