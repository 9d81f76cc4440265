// Controls a Chromium page over a pipe, so that neither a script in the page nor a port is necessary.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

/** The name of the Chromium program. Undefined if none is installed. */
export const chromiumProgram = [process.env["CHROMIUM"], "chromium", "chromium-browser", "google-chrome"].find(
	(name) => name !== undefined && name !== "" && spawnSync("which", [name]).status === 0,
);

export interface BrowserPage extends AsyncDisposable {
	/** The URLs of all requests, including those for the pages themselves. */
	readonly requests: readonly string[];
	/** The browser's log entries for the page, for example failed requests. */
	readonly complaints: readonly string[];
	open(url: string): Promise<void>;
	send<T = unknown>(method: string, params?: object): Promise<T>;
	evaluate<T>(expression: string): Promise<T>;
}

interface Message {
	readonly id?: number;
	readonly method?: string;
	readonly params?: Readonly<Record<string, never>> & {
		readonly request?: { readonly url: string };
		readonly entry?: { readonly text: string };
	};
	readonly result?: unknown;
	readonly error?: { readonly message: string };
}

export async function openBrowser(program: string): Promise<BrowserPage> {
	const folder = mkdtempSync(join(tmpdir(), "xpdb-chromium-"));
	const child = spawn(
		program,
		// The sandbox does not work for root, and the page is our own.
		["--headless=new", "--no-sandbox", "--remote-debugging-pipe", `--user-data-dir=${folder}`, "about:blank"],
		{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
	);
	const requests: string[] = [];
	const complaints: string[] = [];
	const loaded = new Set<() => void>();
	const call = connect(child, ({ method, params }) => {
		if (method === "Network.requestWillBeSent" && params?.request) requests.push(params.request.url);
		if (method === "Log.entryAdded" && params?.entry) complaints.push(params.entry.text);
		if (method === "Page.loadEventFired") for (const each of loaded) each();
	});
	const { targetInfos } = await call<{ targetInfos: readonly { targetId: string; type: string }[] }>(
		"Target.getTargets",
	);
	const targetId = targetInfos.find(({ type }) => type === "page")?.targetId;
	const { sessionId } = await call<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
	const send = <T>(method: string, params: object = {}): Promise<T> => call<T>(method, params, sessionId);
	for (const domain of ["Page", "Network", "Log", "Runtime"]) await send(`${domain}.enable`);
	return {
		requests,
		complaints,
		send,
		async open(url) {
			const { promise, resolve } = Promise.withResolvers<void>();
			loaded.add(resolve);
			await send("Page.navigate", { url });
			await promise;
			loaded.delete(resolve);
		},
		async evaluate<T>(expression: string) {
			const { result, exceptionDetails } = await send<{
				readonly result: { readonly value: T };
				readonly exceptionDetails?: { readonly exception?: { readonly description?: string } };
			}>("Runtime.evaluate", { expression, returnByValue: true });
			if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? "the expression failed");
			return result.value;
		},
		async [Symbol.asyncDispose]() {
			const closed = new Promise((resolve) => child.once("close", resolve));
			if (child.exitCode === null) {
				await call("Browser.close").catch(() => undefined);
				await closed;
			}
			rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
		},
	};
}

type Call = <T>(method: string, params?: object, sessionId?: string) => Promise<T>;

/** Returns a function that calls methods through the pipe. Messages are JSON, each ended by a zero byte. */
function connect(child: ChildProcess, onEvent: (message: Message) => void): Call {
	const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable];
	const open = new Map<number, PromiseWithResolvers<unknown>>();
	let count = 0;
	let rest = "";
	output.setEncoding("utf8").on("data", (text: string) => {
		const messages = (rest + text).split("\0");
		rest = messages.pop() ?? "";
		for (const line of messages) {
			const message = JSON.parse(line) as Message;
			const { id, result, error } = message;
			if (id === undefined) onEvent(message);
			else if (error) open.get(id)?.reject(new Error(error.message));
			else open.get(id)?.resolve(result);
		}
	});
	const fail = (error: Error): void => {
		for (const { reject } of open.values()) reject(error);
	};
	input.on("error", fail);
	child.once("error", fail);
	child.once("close", () => fail(new Error("Chromium has ended")));
	return async <T>(method: string, params: object = {}, sessionId?: string): Promise<T> => {
		const id = (count += 1);
		const answer = Promise.withResolvers<unknown>();
		open.set(id, answer);
		input.write(`${JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`);
		return (await answer.promise) as T;
	};
}
