// Plays the agent's connection to an API server. A function gives the answers, without a network.
import type {
	ApiAnswer,
	ApiConnection,
	ApiRequestOptions,
	ApiStreamOptions,
} from "../../agent/kubernetes/api-connection.ts";
import { SeenVersions } from "../../agent/kubernetes/seen-versions.ts";
import { LineSplitter } from "../../proto/line-splitter.ts";
import { demand } from "./fuzz-target.ts";

export interface AnsweringOptions {
	readonly answer: (request: ApiRequestOptions) => ApiAnswer;
	/** Returns the bytes of a watch. Undefined for a watch that stays open and silent until it is aborted. */
	readonly stream?: (options: ApiStreamOptions) => readonly Buffer[] | undefined;
	/** Called with the path of each request after its validation, but not with the paths of watches. */
	readonly asked?: (path: string) => void;
}

export function createAnsweringConnection({ answer, stream, asked }: AnsweringOptions): ApiConnection {
	return {
		cluster: "eu-1",
		versions: new SeenVersions(),
		silentMs: 0,
		session: 1,
		connected: true,
		async request(options) {
			demandPath(options.path);
			asked?.(options.path);
			return answer(options);
		},
		async stream(options) {
			demandPath(options.path);
			const chunks = stream?.(options);
			if (!chunks) {
				await new Promise<void>((resolve) => options.signal.addEventListener("abort", () => resolve()));
				return undefined;
			}
			// Splits chunks into lines, as agent/kubernetes/api-connection.ts does.
			const lines = new LineSplitter((line) => options.line(line));
			for (const chunk of chunks) {
				lines.push(chunk);
				options.signOfLife(0);
			}
			return undefined;
		},
		close: () => undefined,
	};
}

/** Demands a valid path of the API, whatever the objects contain from which it is made. */
function demandPath(path: string): void {
	demand(/^\/(api\/|apis$|apis\/[^/?]+\/)/.test(path), `It asks for ${JSON.stringify(path.slice(0, 200))}`);
	// Path and query contain nothing that must be encoded.
	demand(/^[\w\-.~%!$&'()*+,;=:@/?]+$/.test(path), `It asks for ${JSON.stringify(path.slice(0, 200))}`);
	const segments = path.split("?")[0]?.split("/").slice(1) ?? [];
	demand(
		!segments.some((segment) => segment === "" || /^(\.|%2e){1,2}$/i.test(segment)),
		`It asks for ${path.slice(0, 200)}`,
	);
}
