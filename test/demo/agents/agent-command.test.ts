import { describe, expect, test } from "vitest";
import type { AgentContainer } from "../../../demo/agents/agent-command.ts";
import { agentCommand, shippedPorts } from "../../../demo/agents/agent-command.ts";

const place = {
	ip: "127.10.1.10",
	ports: shippedPorts,
	hostIp: "127.10.1.1",
	program: "/repo/dist/agent.js",
	kubeconfig: "/pod/kubeconfig",
	certificate: "/pod/tls.crt",
	key: "/pod/tls.key",
	clientAuthority: "/pod/ca.crt",
};

const overrides = [
	"--listen-address=127.10.1.10:8443",
	"--peer-listen-address=127.10.1.10:8444",
	"--http-listen-address=127.10.1.10:8080",
	"--kubeconfig=/pod/kubeconfig",
	"--tls-cert-file=/pod/tls.crt",
	"--tls-private-key-file=/pod/tls.key",
	"--client-ca-file=/pod/ca.crt",
	"--pod-name=agent-a",
	"--pod-namespace=xpdb-system",
	"--pod-ip=127.10.1.10",
];

function commandOf(container: Partial<AgentContainer>, at = place) {
	const metadata = { name: "agent-a", namespace: "xpdb-system", uid: "u", resourceVersion: "1" };
	const spec = { nodeName: "c1-n0", serviceAccountName: "xpdb-agent", containers: [{ name: "agent", ...container }] };
	return agentCommand({ metadata, spec }, at);
}

describe("agentCommand()", () => {
	test("replaces addresses and paths, in both spellings, and keeps everything else", () => {
		const { args } = commandOf({
			args: [
				"--log-level=debug",
				"--tls-cert-file=/etc/tls.crt",
				"--listen-address",
				"0.0.0.0:8443",
				"--lease-namespace",
				"x",
			],
		});
		expect(args).toEqual(["/repo/dist/agent.js", "--log-level=debug", "--lease-namespace", "x", ...overrides]);
	});

	test("takes over the flags of Node from the container's command", () => {
		const { args } = commandOf({
			command: ["node", "--max-semi-space-size=1", "/app/agent.js"],
			args: ["--log-level=debug"],
		});
		expect(args).toEqual(["--max-semi-space-size=1", "/repo/dist/agent.js", "--log-level=debug", ...overrides]);
	});

	test("resolves variables as the kubelet does", () => {
		const { args, env } = commandOf({
			args: ["--cluster-name=$(NAME)-$(UNKNOWN)"],
			env: [
				{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
				{ name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
				{ name: "NAME", value: "on-$(NODE)" },
			],
		});
		expect(env).toEqual({ POD_IP: "127.10.1.10", NODE: "c1-n0", NAME: "on-c1-n0" });
		expect(args[1]).toBe("--cluster-name=on-c1-n0-$(UNKNOWN)");
	});

	test("puts an IPv6 address into brackets where a port follows", () => {
		const variable = { name: "POD_IPS", valueFrom: { fieldRef: { fieldPath: "status.podIPs" } } };
		const { args, env } = commandOf({ env: [variable] }, { ...place, ip: "::1" });
		expect(args).toEqual(expect.arrayContaining(["--peer-listen-address=[::1]:8444", "--pod-ip=::1"]));
		expect(env).toEqual({ POD_IPS: "::1" });
	});

	test("refuses a variable that it cannot resolve, instead of leaving it out", () => {
		expect(() => commandOf({ env: [{ name: "TOKEN", valueFrom: {} }] })).toThrow(
			'Cannot resolve the variable "TOKEN" of pod "xpdb-system/agent-a"',
		);
	});

	test("gives Node the heap that it would have under the container's memory limit", () => {
		const env = [{ name: "NODE_OPTIONS", value: "--expose-gc --max-old-space-size-percentage=29" }];
		const optionsWith = (memory: string) => commandOf({ env, resources: { limits: { memory } } }).env["NODE_OPTIONS"];
		expect(optionsWith("224Mi")).toBe("--expose-gc --max-old-space-size=64");
		expect(optionsWith("1Gi")).toBe("--expose-gc --max-old-space-size=296");
		expect(commandOf({ env }).env["NODE_OPTIONS"]).toBe("--expose-gc --max-old-space-size-percentage=29");
	});
});
