import { describe, expect, test } from "vitest";
import { globalFlags, readGlobalFlags } from "../../../plugin/flags/global-flags.ts";
import { SuggestedCommands } from "../../../plugin/flags/suggested-commands.ts";

const suggest = (flags: Record<string, unknown>) => new SuggestedCommands(readGlobalFlags(flags));

describe("SuggestedCommands", () => {
	test("come to the same agents by the same kubeconfig", () => {
		const flags = { kubeconfig: "/tmp/my kube", "agent-namespace": "agents", "agent-account": "shop" };
		expect(suggest(flags).xpdb(["ops"], "eu")).toBe(
			"kubectl xpdb ops --context eu '--kubeconfig=/tmp/my kube' --agent-namespace=agents --agent-account=shop",
		);
	});

	test("of kubectl have none of the flags that are ours alone", () => {
		const flags = { kubeconfig: "k", contexts: ["eu", "us"], "agent-namespace": "agents", "agent-account": "shop" };
		expect(suggest(flags).kubectl(["get", "nodes"], "us")).toBe("kubectl get nodes --context us --kubeconfig=k");
	});

	test("are of the same person, however that is told apart", () => {
		const flags = { as: "ann", "as-uid": "7", "as-group": ["a", "b"], "as-user-extra": ["team=x"], user: "admin" };
		const same = "--user=admin --as=ann --as-uid=7 --as-group=a --as-group=b --as-user-extra=team=x";
		expect(suggest(flags).kubectl(["auth", "whoami"], undefined)).toBe(`kubectl auth whoami ${same}`);
	});

	test("of an administrator are to the same server, and of nobody", () => {
		const flags = { as: "ann", "as-group": ["a"], user: "ann", token: "t", "client-key": "k", kubeconfig: "k8s" };
		expect(suggest(flags).kubectlAsAnother(["create", "rolebinding", "x"], "eu")).toBe(
			"kubectl create rolebinding x --context eu --kubeconfig=k8s",
		);
	});

	test("speak to the same server in the same way", () => {
		const flags = {
			server: "https://10.0.0.1:6443",
			"certificate-authority": "ca.crt",
			"client-certificate": "me.crt",
			"client-key": "me.key",
			"tls-server-name": "eu",
			"insecure-skip-tls-verify": true,
			cluster: "eu",
		};
		expect(suggest(flags).kubectl(["get", "nodes"], "")).toBe(
			"kubectl get nodes --cluster=eu --server=https://10.0.0.1:6443 --certificate-authority=ca.crt " +
				"--client-certificate=me.crt --client-key=me.key --tls-server-name=eu --insecure-skip-tls-verify",
		);
	});

	test("leave a secret to be filled in, so that nobody else acts in its place", () => {
		const said = suggest({ token: "s3cret", username: "ann", password: "hunter2" }).xpdb(["ops"], "eu");
		expect(said).toBe("kubectl xpdb ops --context eu --token=... --username=ann --password=...");
	});

	test("in all contexts name those that were typed, and none where none was", () => {
		expect(suggest({ contexts: ["eu", "us"], as: "ann" }).xpdbInAll(["version"])).toBe(
			"kubectl xpdb version --contexts=eu,us --as=ann",
		);
		expect(suggest({ context: "eu" }).xpdbInAll(["version"])).toBe("kubectl xpdb version --context=eu");
		expect(suggest({}).xpdbInAll(["version"])).toBe("kubectl xpdb version");
	});
});

test("what a command is repeated with are all flags of connections that there are", () => {
	const text = "x";
	// Flags that do not affect which server a command reaches, or that each command sets itself.
	const others = ["context", "namespace", "request-timeout", "warnings-as-errors", "match-server-version", "v"];
	const ignored = Object.entries(globalFlags).filter(([, { describe }]) => /^(?:Accepted and ignored)/.test(describe));
	const names = Object.keys(globalFlags).filter(
		(name) => !others.includes(name) && !ignored.some(([other]) => other === name),
	);
	for (const name of names) {
		const { kind } = globalFlags[name] ?? {};
		const value = kind === "boolean" ? true : kind === "list" ? [text] : text;
		expect(suggest({ [name]: value }).xpdbInAll(["ops"]), name).toContain(` --${name}`);
	}
	expect(names.length).toBeGreaterThan(15);
});
