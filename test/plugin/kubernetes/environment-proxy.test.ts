import { describe, expect, test } from "vitest";
import { environmentProxy } from "../../../plugin/kubernetes/environment-proxy.ts";

const proxy = "http://proxy.corp:3128";

interface Row {
	readonly server: string;
	readonly env: NodeJS.ProcessEnv;
	readonly through: string | undefined;
}

function rows(name: string, table: readonly Row[]): void {
	describe(name, () => {
		for (const { server, env, through } of table) {
			const given = Object.entries(env).map(([key, value]) => `${key}=${value}`);
			test(`${server} with ${given.join(" ")}: ${through ?? "none"}`, () => {
				expect(environmentProxy(server, env)).toBe(through);
			});
		}
	});
}

function excluded(server: string, noProxy: string): Row {
	return { server, env: { HTTPS_PROXY: proxy, NO_PROXY: noProxy }, through: undefined };
}

function included(server: string, noProxy: string): Row {
	return { server, env: { HTTPS_PROXY: proxy, NO_PROXY: noProxy }, through: `${proxy}/` };
}

rows("the proxy of the environment", [
	{ server: "https://eu.example:6443", env: {}, through: undefined },
	{ server: "https://eu.example:6443", env: { HTTPS_PROXY: proxy }, through: `${proxy}/` },
	{ server: "https://eu.example", env: { https_proxy: proxy }, through: `${proxy}/` },
	{ server: "https://eu.example", env: { HTTPS_PROXY: proxy, https_proxy: "http://other" }, through: `${proxy}/` },
	{ server: "https://eu.example", env: { HTTPS_PROXY: "", https_proxy: proxy }, through: `${proxy}/` },
	{ server: "https://eu.example", env: { HTTP_PROXY: proxy, ALL_PROXY: proxy }, through: undefined },
	{ server: "http://eu.example", env: { HTTPS_PROXY: proxy }, through: undefined },
	{ server: "http://eu.example", env: { HTTP_PROXY: proxy }, through: `${proxy}/` },
	{ server: "https://eu.example", env: { HTTPS_PROXY: "proxy.corp:3128" }, through: `${proxy}/` },
	{ server: "https://eu.example", env: { HTTPS_PROXY: "proxy" }, through: "http://proxy/" },
	{ server: "https://eu.example", env: { HTTPS_PROXY: "https://a:b@proxy" }, through: "https://a:b@proxy/" },
	{ server: "https://eu.example", env: { HTTPS_PROXY: "socks5://proxy:1080" }, through: "socks5://proxy:1080" },
	{ server: "https://eu.example", env: { HTTPS_PROXY: "::::" }, through: undefined },
	{ server: "https://eu.example", env: { HTTPS_PROXY: proxy, no_proxy: "eu.example" }, through: undefined },
	{
		server: "https://eu.example",
		env: { HTTPS_PROXY: proxy, NO_PROXY: "us.example", no_proxy: "eu.example" },
		through: `${proxy}/`,
	},
]);

rows("this machine has none, whatever NO_PROXY says", [
	excluded("https://localhost:6443", ""),
	excluded("https://127.0.0.1:6443", ""),
	excluded("https://127.255.0.9", "us.example"),
	excluded("https://[::1]:6443", ""),
	excluded("https://[::ffff:127.0.0.1]", ""),
	{ server: "http://localhost:8001", env: { HTTP_PROXY: proxy }, through: undefined },
	{ server: "https://localhost", env: { HTTPS_PROXY: "ftp://proxy" }, through: undefined },
	included("https://localhost.example", ""),
	included("https://128.0.0.1", ""),
	included("https://0.0.0.0:6443", ""),
	included("https://[::2]", ""),
]);

rows("NO_PROXY", [
	excluded("https://eu.example:6443", "*"),
	excluded("https://10.1.2.3", "us.example, *"),
	included("https://eu.example", "* us.example"),
	excluded("https://example", "example"),
	excluded("https://eu.example", "example"),
	excluded("https://EU.Example", " us.example , eu.EXAMPLE "),
	included("https://euexample", "example"),
	excluded("https://eu.example", ".example"),
	included("https://example", ".example"),
	excluded("https://a.eu.example", "*.example"),
	included("https://example", "*.example"),
	included("https://eu.example", "eu.*"),
	excluded("https://eu.example:6443", "example:6443"),
	included("https://eu.example:6443", "example:443"),
	excluded("https://eu.example", "example:443"),
	excluded("https://eu.example", "eu.example:"),
	included("https://eu.example", ":443"),
	included("https://eu.example", ",,"),
	excluded("https://10.1.2.3:6443", "10.1.2.3"),
	excluded("https://10.1.2.3:6443", "10.1.2.3:6443"),
	included("https://10.1.2.3:6443", "10.1.2.3:443"),
	included("https://10.1.2.34", "10.1.2.3"),
	excluded("https://10.1.2.3", "192.168.0.0/16,10.9.9.9/8"),
	included("https://11.1.2.3", "10.0.0.0/8"),
	included("https://10.1.2.3", "10.0.0.0/33"),
	included("https://10.1.2.3", "10.0.0.0/"),
	included("https://10.1.2.3", "2.3"),
	included("https://eu.example", "10.0.0.0/8"),
	included("https://10.1.2.3", "::/0"),
	excluded("https://10.1.2.3", "::ffff:10.0.0.0/104"),
	included("https://[fd00::12]", "fd00::12%eth0"),
	excluded("https://[fd00::12]:6443", "fd00::/8"),
	excluded("https://[fd00::12]:6443", "fd00::12"),
	excluded("https://[fd00::12]:6443", "[fd00::12]:6443"),
	included("https://[fd00::12]:6443", "[fd00::12]:443"),
	excluded("https://bücher.example", "bücher.example"),
]);

test("a scheme that is none of a proxy is refused, without what stands in the URL", () => {
	expect(() => environmentProxy("https://eu.example", { HTTPS_PROXY: "ftp://me:secret@proxy" })).toThrow(
		'error: HTTPS_PROXY has the unsupported scheme "ftp": it must be http, https, or socks5',
	);
});
