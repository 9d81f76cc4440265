// Finds the proxy that the environment sets for a server, by Go's rules (golang.org/x/net/http/httpproxy). Node's `proxyEnv` differs for
// localhost, lower-case variables, proxies without a scheme, and CIDRs in NO_PROXY.
import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";
import { quote } from "../../disruption/quote.ts";
import { KubeconfigError } from "../terminal/errors.ts";

const schemes = ["http:", "https:", "socks5:", "socks5h:"];

/**
 * Undefined if no proxy is set, NO_PROXY excludes the server, or the server is this machine. Throws KubeconfigError for an unsupported
 * scheme.
 */
export function environmentProxy(server: string, env: NodeJS.ProcessEnv): string | undefined {
	const url = new URL(server);
	const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
	const proxy = readProxy(env[name] || env[name.toLowerCase()] || "");
	if (proxy === undefined || !usesProxy(url, env["NO_PROXY"] || env["no_proxy"] || "")) return undefined;
	if (!schemes.includes(proxy.protocol)) {
		throw new KubeconfigError(
			`error: ${name} has the unsupported scheme ${quote(proxy.protocol.replace(/:$/, ""))}: it must be http, https, or socks5`,
		);
	}
	return proxy.href;
}

/** Accepts "proxy:3128" as an HTTP proxy. Ignores text that is not a URL. */
function readProxy(text: string): URL | undefined {
	return [text, `http://${text}`]
		.filter((each) => URL.canParse(each))
		.map((each) => new URL(each))
		.find(({ host }) => host !== "");
}

interface Target {
	/** An IPv6 address has no brackets. */
	readonly host: string;
	readonly port: string;
	/** 0: the host is a name. */
	readonly family: 0 | 4 | 6;
}

function usesProxy(url: URL, noProxy: string): boolean {
	const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
	const family = isIP(host);
	const target: Target = {
		host,
		port: url.port || (url.protocol === "https:" ? "443" : "80"),
		family: family === 4 || family === 6 ? family : 0,
	};
	if (host === "localhost" || isIn(target, "127.0.0.0", 8) || isIn(target, "::1", 128)) return false;
	return !noProxy.split(",").some((entry) => excludes(entry.trim().toLowerCase(), target));
}

/** An entry of NO_PROXY is "*", a CIDR, an address or a domain. An address or a domain may have a port. */
function excludes(entry: string, target: Target): boolean {
	if (entry === "*") return true;
	const [, network = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
	if (network !== "") return isIn(target, network, Number(bits));
	const [, bracketed, bare, port = ""] = /^(?:\[(.*)\]|([^:]*)):([^:]*)$/.exec(entry) ?? [];
	const host = bracketed ?? bare ?? entry;
	if (host === "" || (port !== "" && port !== target.port)) return false;
	const family = isIP(host);
	if (family !== 0) return isIn(target, host, family === 4 ? 32 : 128);
	if (target.family !== 0) return false;
	const domain = host.replace(/^\*\./, ".");
	// Without a leading dot, the entry matches the domain itself too.
	const name = domainToASCII(domain.replace(/^\./, "")) || domain;
	return target.host.endsWith(`.${name}`) || (!domain.startsWith(".") && target.host === name);
}

/** False if `network` is invalid, or if the target is a name: names are not resolved. */
function isIn({ host, family }: Target, network: string, bits: number): boolean {
	const kind = isIP(network);
	if (family === 0 || kind === 0 || network.includes("%") || bits > (kind === 4 ? 32 : 128)) return false;
	// Of the IPv6 networks, only those of IPv4-mapped addresses contain an IPv4 address.
	if (kind === 6 && bits < 96 && (family === 4 || host.startsWith("::ffff:"))) return false;
	const list = new BlockList();
	list.addSubnet(network, bits, kind === 4 ? "ipv4" : "ipv6");
	return list.check(host, family === 4 ? "ipv4" : "ipv6");
}
