// Finds the proxy that the environment sets for a server, by the rules of Go's golang.org/x/net/http/httpproxy, which kubectl uses.
// `proxyEnv` of Node's agents is not enough. It uses the proxy for localhost too, reads lower-case variables first, ignores a proxy without
// a scheme, and supports no CIDR in NO_PROXY.
import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";
import { quote } from "../../disruption/quote.ts";
import { KubeconfigError } from "../terminal/errors.ts";

const schemes = ["http:", "https:", "socks5:", "socks5h:"];

/**
 * Returns the proxy's URL with its scheme. Undefined if there is none or NO_PROXY excludes the server, and always for this machine itself.
 * Throws KubeconfigError if we cannot use the proxy.
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

/** "proxy:3128" is an HTTP proxy. Text that cannot be parsed means no proxy. */
function readProxy(text: string): URL | undefined {
	return [text, `http://${text}`]
		.filter((each) => URL.canParse(each))
		.map((each) => new URL(each))
		.find(({ host }) => host !== "");
}

interface Target {
	/** IPv6 addresses are without brackets. */
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

/**
 * Whether an entry of NO_PROXY excludes the target. The entry is "*", a CIDR, an address or a domain. An address or a domain may have a
 * port.
 */
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

/** False if `network` is not a network, or if the target is a name: names are not resolved. */
function isIn({ host, family }: Target, network: string, bits: number): boolean {
	const kind = isIP(network);
	if (family === 0 || kind === 0 || network.includes("%") || bits > (kind === 4 ? 32 : 128)) return false;
	// An IPv4 address is in no IPv6 network, however wide, except in a network of IPv4-mapped addresses.
	if (kind === 6 && bits < 96 && (family === 4 || host.startsWith("::ffff:"))) return false;
	const list = new BlockList();
	list.addSubnet(network, bits, kind === 4 ? "ipv4" : "ipv6");
	return list.check(host, family === 4 ? "ipv4" : "ipv6");
}
