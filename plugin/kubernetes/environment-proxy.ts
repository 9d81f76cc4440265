// The proxy that the environment has for a server, by the rules of Go's golang.org/x/net/http/httpproxy, which are kubectl's. Not by the
// `proxyEnv` of Node's agents alone: they ask a proxy for localhost too, read lower case first, take a proxy without a scheme for none, and
// know no CIDR in NO_PROXY.
import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";
import { quote } from "../../disruption/quote.ts";
import { KubeconfigError } from "../terminal/errors.ts";

const schemes = ["http:", "https:", "socks5:", "socks5h:"];

/** With its scheme; undefined: none, and never one for this machine itself. Throws KubeconfigError where it is no proxy that we can use. */
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

/** "proxy:3128" is one of HTTP; what cannot be read is none. */
function readProxy(text: string): URL | undefined {
	return [text, `http://${text}`]
		.filter((each) => URL.canParse(each))
		.map((each) => new URL(each))
		.find(({ host }) => host !== "");
}

interface Target {
	/** Of IPv6 without brackets. */
	readonly host: string;
	readonly port: string;
	/** 0: a name. */
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

/** One entry of NO_PROXY: "*", CIDR, address or domain, the last two with a port or without. */
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
	// Without a dot in front, the domain itself is meant too.
	const name = domainToASCII(domain.replace(/^\./, "")) || domain;
	return target.host.endsWith(`.${name}`) || (!domain.startsWith(".") && target.host === name);
}

/** False where it is no network, or the target has no address: names are not looked up. */
function isIn({ host, family }: Target, network: string, bits: number): boolean {
	const kind = isIP(network);
	if (family === 0 || kind === 0 || network.includes("%") || bits > (kind === 4 ? 32 : 128)) return false;
	// An address of IPv4 is in no network of IPv6, however wide, but for those that are IPv4 written so.
	if (kind === 6 && bits < 96 && (family === 4 || host.startsWith("::ffff:"))) return false;
	const list = new BlockList();
	list.addSubnet(network, bits, kind === 4 ? "ipv4" : "ipv6");
	return list.check(host, family === 4 ? "ipv4" : "ipv6");
}
