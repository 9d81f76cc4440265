// Logs requests to an API server for -v, in client-go's form (transport/round_trippers.go). Each answer also names its request, because
// many run in parallel.
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { LogField, VerboseLog } from "../terminal/verbose-log.ts";

export interface FollowedRequest {
	answered(body: string): void;
}

/** Call it before the request is sent. It does not read the answer's body. */
export function followRequest(log: VerboseLog, request: ClientRequest, url: URL, body?: string): FollowedRequest {
	const { level } = log;
	const began = performance.now();
	const asked: readonly LogField[] = [
		["verb", request.method],
		["url", withoutLogin(url)],
	];
	const headers = headersText(log, request.getHeaders());
	tellBody("Request Body", body ?? "");
	if (level >= 9) log.tell("Request", [["curlCommand", curlCommand(request.method, headers, withoutLogin(url))]]);
	else if (level >= 7) log.tell("Request", [...asked, ["headers", headers]]);

	request.once("response", tellAnswer);
	request.once("upgrade", tellAnswer);
	request.once("error", ({ message }) => tellEnd("", ["err", message]));
	return { answered: (text) => tellBody("Response Body", text) };

	function tellAnswer({ statusCode, statusMessage, headers: given }: IncomingMessage): void {
		tellEnd(
			`${statusCode} ${statusMessage}`,
			...(level >= 8 ? ([["headers", headersText(log, given)]] satisfies LogField[]) : []),
		);
	}

	function tellEnd(status: string, ...more: readonly LogField[]): void {
		request.off("response", tellAnswer).off("upgrade", tellAnswer);
		log.tell("Response", [
			...asked,
			["status", status],
			...more,
			["milliseconds", Math.floor(performance.now() - began)],
		]);
	}

	function tellBody(message: string, text: string): void {
		const field = log.body(text);
		if (field) log.tell(message, [field]);
	}
}

function withoutLogin(url: URL): string {
	const shown = new URL(url);
	shown.username = "";
	shown.password = "";
	return shown.href;
}

/** Returns the headers sorted, one per line, spelled as in Go. Masks logins, and registers them as secrets. */
function headersText({ secrets }: VerboseLog, headers: OutgoingHttpHeaders): string {
	return Object.entries(headers)
		.flatMap(([name, value]) => [value ?? []].flat().map((each) => [canonical(name), String(each)] as const))
		.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
		.map(([name, value]) => `${name}: ${isLogin(name) ? maskedLogin(value, secrets) : value}\n`)
		.join("");
}

function canonical(name: string): string {
	return name.toLowerCase().replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

function isLogin(name: string): boolean {
	return ["Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie"].includes(name);
}

/** For example "Bearer <masked>", as in client-go. */
function maskedLogin(value: string, secrets: VerboseLog["secrets"]): string {
	const [, scheme, secret = value] = /^(Bearer|Basic|Negotiate) +(.*)$/i.exec(value) ?? [];
	secrets.learn(secret);
	if (scheme?.toLowerCase() === "basic") {
		secrets.learn(Buffer.from(secret, "base64").toString().split(":").slice(1).join(":"));
	}
	return scheme === undefined ? "<masked>" : `${scheme} <masked>`;
}

/** The login is masked and the body left out, so the command cannot be run as it is. */
function curlCommand(method: string, headers: string, url: string): string {
	const given = headers.split("\n").filter((line) => line !== "");
	return `curl -v -X${method} ${given.map((line) => ` -H ${JSON.stringify(line)}`).join("")} '${url}'\n`;
}
