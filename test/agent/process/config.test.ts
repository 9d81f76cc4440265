import { describe, expect, test } from "vitest";
import { type AgentConfig, ConfigError, parseConfig } from "../../../agent/process/config.ts";

const cluster = {
	KUBERNETES_SERVICE_HOST: "10.0.0.1",
	POD_NAME: "agent-a",
	POD_NAMESPACE: "xpdb-system",
	POD_IP: "10.1.0.7",
};
const files = ["--tls-cert-file=tls.crt", "--tls-private-key-file=tls.key", "--client-ca-file=ca.crt"];

async function parse(args: string[], env: Record<string, string> = cluster): Promise<AgentConfig> {
	const config = await parseConfig(args, env);
	if ("help" in config) throw new Error("Unexpected help");
	return config;
}

describe("parseConfig()", () => {
	test("has a default for all that a Pod does not have to say", async () => {
		expect(await parse(files)).toEqual({
			listen: { hosts: ["0.0.0.0"], port: 8443 },
			peerListen: { hosts: ["10.1.0.7"], port: 8444 },
			httpListen: { hosts: ["10.1.0.7"], port: 8080 },
			certificateFile: "tls.crt",
			privateKeyFile: "tls.key",
			caFile: "ca.crt",
			leaseNamespace: "xpdb-system",
			agentNamespace: "xpdb-system",
			fleetConfigMap: "xpdb-fleet",
			pod: { name: "agent-a", namespace: "xpdb-system", ip: "10.1.0.7" },
			logLevel: "info",
		});
	});

	test("takes every flag from the environment too, and a flag wins", async () => {
		const env = {
			XPDB_LISTEN_ADDRESS: "[::1]:1",
			XPDB_TLS_CERT_FILE: "a",
			XPDB_TLS_PRIVATE_KEY_FILE: "b",
			XPDB_CLIENT_CA_FILE: "c",
			XPDB_KUBECONFIG: "k",
			XPDB_POD_NAME: "agent-b",
			POD_NAME: "another",
			XPDB_POD_NAMESPACE: "elsewhere",
			XPDB_POD_IP: "::1",
			XPDB_LOG_LEVEL: "debug",
			XPDB_CLUSTER_NAME: "eu-1",
			XPDB_FAIL_POINT: "not a flag",
		};
		const config = await parse(["--log-level=warn"], env);
		expect(config).toMatchObject({
			listen: { hosts: ["::1"], port: 1 },
			certificateFile: "a",
			kubeconfig: "k",
			pod: { name: "agent-b", namespace: "elsewhere", ip: "::1" },
			logLevel: "warn",
			clusterName: "eu-1",
		});
	});

	test("takes the last of a flag that is given twice", async () => {
		expect((await parse([...files, "--pod-ip=10.0.0.1", "--pod-ip=10.0.0.2"])).pod.ip).toBe("10.0.0.2");
	});

	test("listens on loopback, where port-forwards come, with the port for callers alone", async () => {
		const ipv6 = { ...cluster, POD_IP: "fd00::7" };
		expect(await parse([...files, "--http-listen-address=:8090"], ipv6)).toMatchObject({
			listen: { hosts: ["::"], port: 8443 },
			peerListen: { hosts: ["fd00::7"], port: 8444 },
			httpListen: { hosts: ["fd00::7"], port: 8090 },
		});
		const everywhere = await parse([...files, "--peer-listen-address=0.0.0.0:8444"]);
		expect(everywhere.peerListen.hosts).toEqual(["0.0.0.0"]);
	});

	const dualStack = [
		{ name: "IPv4 first", ip: "10.1.0.7", ips: "10.1.0.7,fd00::7", hosts: ["10.1.0.7", "fd00::7"] },
		{ name: "IPv6 first", ip: "fd00::7", ips: "fd00::7,10.1.0.7", hosts: ["fd00::7", "10.1.0.7"] },
		{ name: "spaces, and only the other address", ip: "10.1.0.7", ips: " fd00::7 ,", hosts: ["10.1.0.7", "fd00::7"] },
	];
	for (const { name, ip, ips, hosts } of dualStack) {
		test(`listens on both addresses of a dual-stack Pod: ${name}`, async () => {
			expect(await parse(files, { ...cluster, POD_IP: ip, POD_IPS: ips })).toMatchObject({
				listen: { hosts: ["::"], port: 8443 },
				peerListen: { hosts, port: 8444 },
				httpListen: { hosts, port: 8080 },
				pod: { ip },
			});
		});
	}

	test("listens only on a host that is given, even if the Pod has two addresses", async () => {
		const env = { ...cluster, POD_IPS: "10.1.0.7,fd00::7" };
		const args = ["--listen-address=127.0.0.1:1", "--peer-listen-address=[fd00::7]:2", "--http-listen-address=a:3"];
		expect(await parse([...files, ...args], env)).toMatchObject({
			listen: { hosts: ["127.0.0.1"], port: 1 },
			peerListen: { hosts: ["fd00::7"], port: 2 },
			httpListen: { hosts: ["a"], port: 3 },
		});
	});

	test("takes port 0 more than once", async () => {
		const free = ["--listen-address=127.0.0.1:0", "--peer-listen-address=127.0.0.1:0"];
		expect((await parse([...files, ...free])).peerListen.port).toBe(0);
	});

	test("prints help with every flag", async () => {
		const config = await parseConfig(["--help"], {});
		expect(config).toMatchObject({ help: expect.stringContaining("--tls-private-key-file") });
		expect(config).toMatchObject({ help: expect.stringContaining("[XPDB_FLEET_CONFIGMAP]") });
	});

	const refusals: { name: string; args?: string[]; env?: Record<string, string>; why: string }[] = [
		{ name: "a missing certificate", args: files.slice(1), why: "--tls-cert-file is needed (or XPDB_TLS_CERT_FILE)" },
		{ name: "an empty one", args: [...files, "--client-ca-file="], why: "--client-ca-file" },
		{ name: "no API server", env: { ...cluster, KUBERNETES_SERVICE_HOST: "" }, why: "--kubeconfig is needed" },
		{ name: "no Pod", env: { KUBERNETES_SERVICE_HOST: "10.0.0.1" }, why: "--pod-name is needed" },
		{ name: "an address without port", args: [...files, "--listen-address=0.0.0.0"], why: "must be HOST:PORT" },
		{ name: "a port that is none", args: [...files, "--listen-address=0.0.0.0:70000"], why: "must be HOST:PORT" },
		{ name: "brackets around no IPv6", args: [...files, "--listen-address=[a]:1"], why: "must be HOST:PORT" },
		{
			name: "IPv6 without brackets",
			args: [...files, "--listen-address=fd00::7:8443"],
			why: '--listen-address must be HOST:PORT, is "fd00::7:8443": write an IPv6 address as [ADDRESS]:PORT',
		},
		{
			name: "one of a Pod's addresses",
			args: [...files, "--pod-ips=10.0.0.1,localhost"],
			why: 'is "10.0.0.1,localhost"',
		},
		{ name: "one port twice", args: [...files, "--listen-address=127.0.0.1:8444"], why: "must have different ports" },
		{ name: "an unknown flag", args: [...files, "--lease-duration=1s"], why: "lease-duration" },
		{ name: "an argument", args: [...files, "serve"], why: "arguments other than flags" },
		{ name: "a log level", args: [...files, "--log-level=loud"], why: 'is "loud"' },
		{ name: "a namespace", args: [...files, "--lease-namespace=No/Way"], why: "--lease-namespace must be the name" },
		{ name: "a Pod's address", args: [...files, "--pod-ip=localhost"], why: "--pod-ip must be an IP address" },
	];
	for (const { name, args = files, env = cluster, why } of refusals) {
		test(`refuses ${name}`, async () => {
			const parsing = parseConfig(args, env);
			await expect(parsing).rejects.toBeInstanceOf(ConfigError);
			await expect(parsing).rejects.toThrow(why);
		});
	}
});
