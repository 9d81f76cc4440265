// Shows a run on a screen, and in plain lines before and after it. When the screen closes, completed actions, warnings, failures and the
// summary are printed again, so that the scrollback has them.
import type { EventSink, RunEvent } from "../events/events.ts";
import type { PodTarget } from "../evictions/pod-targets.ts";
import type { CommandDependencies } from "../flags/command.ts";
import type { DryRun } from "../flags/dry-run.ts";
import type { SuggestedCommands } from "../flags/suggested-commands.ts";
import type { KubeContext } from "../kubernetes/kube-context.ts";
import type { NodeTarget } from "../nodes/node-target.ts";
import { exitCode } from "../terminal/exit.ts";
import type { OpenScreen } from "../ui/open-screen.tsx";
import { hasUnicode, screenProblem, type UiChoice, wantsColour } from "./ui-choice.ts";

export interface RunScreenOptions {
	readonly choice: UiChoice;
	/** Whether --ui was typed, so that the run must say why it shows no screen. */
	readonly isTyped: boolean;
	readonly command: string;
	readonly op: string;
	readonly suggest: SuggestedCommands;
	readonly verbosity: number;
	/** Whether JSON goes into a file. Then the screen is drawn on stderr, and without a screen nothing is printed here. */
	readonly isBesideResults: boolean;
	readonly deps: CommandDependencies;
	/** Empty until the run has opened them. */
	readonly contexts: readonly KubeContext[];
	/** `sums`: includes the summary, whatever the number of contexts. */
	readonly writePlain: (options: { readonly sums: boolean }) => EventSink;
}

export interface Pausable {
	pause(): void;
	resume(): void;
}

interface Shown {
	readonly nodes: readonly NodeTarget[];
	readonly pods: readonly PodTarget[];
	readonly dryRun: DryRun;
}

export class RunScreen {
	readonly #options: RunScreenOptions;
	#plain: EventSink | undefined;
	#open: (() => OpenScreen) | undefined;
	#screen: OpenScreen | undefined;
	readonly #kept: RunEvent[] = [];
	#run: Pausable | undefined;

	constructor(options: RunScreenOptions) {
		this.#options = options;
	}

	get isPrepared(): boolean {
		return this.#open !== undefined;
	}

	steer(run: Pausable): void {
		this.#run = run;
	}

	/** Loads the screen if the run should have one. It opens at run.started. */
	async prepare(work: Shown): Promise<void> {
		const { choice, isTyped, verbosity, deps } = this.#options;
		if (choice === "plain" || choice === "none") return;
		const terminal = this.#options.isBesideResults
			? deps.terminal && { ...deps.terminal, stdout: deps.terminal.stderr }
			: deps.terminal;
		const problem = work.dryRun === "none" ? screenProblem(terminal, deps.env) : "a dry run is over at once";
		if (choice === "auto" && (!hasSeveralPlaces(work) || verbosity > 0)) return;
		if (problem !== undefined || !terminal) {
			if (isTyped && choice === "full") deps.streams.stderr.write(`Warning: no full screen: ${problem}\n`);
			return;
		}
		const { openScreen } = await import("../ui/screens.ts");
		const { command, op, suggest, contexts } = this.#options;
		this.#open = () =>
			openScreen({
				terminal,
				hasColour: wantsColour(deps.env),
				hasUnicode: hasUnicode(deps.env, process.platform),
				command,
				op,
				suggest,
				wallClock: () => Date.now(),
				async readObject(object) {
					const { objectForScreen } = await import("./object-for-screen.ts");
					return objectForScreen(object, contexts);
				},
				onPause: (paused) => (paused ? this.#run?.pause() : this.#run?.resume()),
				onInterrupt: () => deps.interrupts.interrupt(exitCode.interrupted),
				onLeave: () => this.#end("Left the view: the run goes on in plain lines, Ctrl-C stops it."),
				onFailure: (error) => this.#end(`Warning: the screen failed (${error.message}): plain lines follow`),
			});
	}

	readonly write: EventSink = (event) => {
		if (this.#options.choice === "none" && progress.has(event.type)) return;
		if (event.type === "run.started" && this.#open) this.#begin(this.#open);
		if (!this.#screen) {
			this.#tell(event);
			return;
		}
		this.#screen.see(event);
		if (kept.has(event.type)) this.#kept.push(event);
		if (event.type === "summary") this.#end();
	};

	/** Stops the run, because the user cannot press Ctrl-C without a terminal. The signal may arrive more than once. */
	readonly #onHangup = (): void => {
		const { interrupts } = this.#options.deps;
		if (interrupts.stoppedBy === undefined) interrupts.interrupt(exitCode.terminated);
	};

	#begin(open: () => OpenScreen): void {
		this.#screen = open();
		// Listen also after the user has left the view, because the terminal is still there.
		process.on("SIGHUP", this.#onHangup);
	}

	#end(why?: string): void {
		if (!this.#screen) return;
		this.#screen.close();
		this.#screen = undefined;
		this.#plain = this.#options.writePlain({ sums: true });
		if (why !== undefined) this.#options.deps.streams.stderr.write(`${why}\n`);
		for (const event of this.#kept.splice(0)) this.#tell(event);
	}

	#tell(event: RunEvent): void {
		if (event.type === "summary") process.off("SIGHUP", this.#onHangup);
		if (this.#options.isBesideResults && !this.#plain) return;
		this.#plain ??= this.#options.writePlain({ sums: false });
		this.#plain(event);
	}
}

function hasSeveralPlaces({ nodes, pods }: Shown): boolean {
	const contexts = new Set([...nodes, ...pods].map(({ context }) => context));
	return nodes.length > 1 || contexts.size > 1;
}

/** Events that are printed again after the screen has closed. */
const kept: ReadonlySet<RunEvent["type"]> = new Set([
	// Prints nothing, but tells the writer of plain lines the members' names.
	"run.started",
	"diagnostic",
	"node.cordoned",
	"node.warning",
	"node.cordonFailed",
	"node.drained",
	"node.failed",
	"nodes.pending",
	"pod.evicted",
	"pod.failed",
	"run.failed",
	"summary",
]);

const progress: ReadonlySet<RunEvent["type"]> = new Set([
	"pod.waiting",
	"pod.retrying",
	"lease.waiting",
	"progress",
	"paused",
	"resumed",
]);
