// Runs the exec plugins of all contexts. Contexts with the same login share one run. Plugins that may ask the user run one at a time: two
// would read each other's input, and the first to end would turn the echo back on.
import { setImmediate as nextTurn } from "node:timers/promises";
import {
	type ExecCredential,
	execInfo,
	type LoginRunner,
	type LoginSurroundings,
	loginRunner,
} from "./exec-credentials.ts";
import { TerminalTurns } from "../terminal/terminal-turns.ts";
import type { ExecPlugin } from "./exec-plugin.ts";

export interface ExecCredentials {
	/** Runs the plugin unless a valid credential is known. Rejects in kubectl's words. */
	current(): Promise<ExecCredential>;
	readonly isOver: boolean;
	forget(): void;
}

interface Login {
	readonly contexts: Set<string>;
	pending?: Promise<ExecCredential> | undefined;
	given?: ExecCredential | undefined;
}

/**
 * Called before a login that may ask the user. The returned function is called when the terminal is free again, with the problem if the
 * login failed.
 */
type LoginAnnouncement = (contexts: readonly string[], plugin: ExecPlugin) => LoginEnd | undefined;
export type LoginEnd = (problem?: string) => void;

interface LoginDeskOptions {
	readonly announce?: LoginAnnouncement;
	readonly runner?: LoginRunner;
	readonly surroundings?: LoginSurroundings;
	readonly turns?: TerminalTurns | undefined;
}

export class LoginDesk {
	readonly #announce: LoginAnnouncement;
	readonly #runner: LoginRunner;
	readonly #surroundings: LoginSurroundings;
	readonly #turns: TerminalTurns;
	readonly #logins = new Map<string, Login>();
	/** Set when the user stops the run during a login, so that no other login asks. */
	#isStopped = false;

	constructor({
		announce = () => undefined,
		runner = loginRunner,
		surroundings = { complain: () => undefined, stop: new AbortController().signal },
		turns = new TerminalTurns(),
	}: LoginDeskOptions = {}) {
		this.#announce = announce;
		this.#runner = runner;
		this.#surroundings = surroundings;
		this.#turns = turns;
	}

	/** Call it for all contexts before the first login runs, because the login announces its contexts. */
	open(plugin: ExecPlugin, context: string): ExecCredentials {
		const login = this.#loginOf(plugin);
		login.contexts.add(context);
		let known: ExecCredential | undefined;
		let refused: ExecCredential | undefined;
		return {
			current: async () => {
				if (known && holds(known)) return known;
				try {
					known = await this.#credential(plugin, login, refused);
				} catch (error) {
					throw new Error(`getting credentials: ${error instanceof Error ? error.message : String(error)}`, {
						cause: error,
					});
				}
				return known;
			},
			get isOver() {
				return known !== undefined && !holds(known);
			},
			forget() {
				refused = known ?? refused;
				known = undefined;
			},
		};
	}

	async #credential(plugin: ExecPlugin, login: Login, refused: ExecCredential | undefined): Promise<ExecCredential> {
		const { given } = login;
		// Another context may have logged in meanwhile.
		if (given && given !== refused && holds(given)) return given;
		login.pending ??= this.#start(plugin, login).finally(() => {
			login.pending = undefined;
		});
		return login.pending;
	}

	async #start(plugin: ExecPlugin, login: Login): Promise<ExecCredential> {
		if (!this.#runner.mayAsk(plugin)) {
			login.given = await this.#runner.run(plugin, this.#surroundings);
			return login.given;
		}
		let end: LoginEnd | undefined;
		const giveBack = await this.#turns.take(() => {
			if (!this.#isStopped) end = this.#announce([...login.contexts], plugin);
		});
		let problem: string | undefined;
		try {
			if (this.#isStopped) throw new Error("the run was stopped while a login asked");
			login.given = await this.#runner.run(plugin, this.#surroundings);
		} catch (error) {
			problem = error instanceof Error ? error.message : String(error);
			// Ctrl-C reaches the plugin and this process at the same time, so wait for our own signal.
			await nextTurn();
			this.#isStopped ||= this.#surroundings.stop.aborted;
			throw error;
		} finally {
			giveBack();
			end?.(problem);
		}
		return login.given;
	}

	#loginOf(plugin: ExecPlugin): Login {
		const { command, args, env } = plugin;
		const variables = Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1));
		const key = JSON.stringify([command, args, variables, process.cwd(), execInfo(plugin)]);
		const login = this.#logins.get(key) ?? { contexts: new Set<string>() };
		this.#logins.set(key, login);
		return login;
	}
}

function holds({ expiresAt }: ExecCredential): boolean {
	return expiresAt === undefined || Date.now() < expiresAt;
}
