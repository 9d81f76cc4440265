// The meanings of the plugin's exit codes, and the commands that end with them.
import { exitCode } from "../../plugin/terminal/exit.ts";

interface Meaning {
	readonly means: string;
	/** By default, all commands. */
	readonly commands?: readonly string[];
}

/** Commands that ask the fleet. */
const asking = [
	"evict",
	"drain",
	"cordon",
	"uncordon",
	"plan",
	"budgets",
	"explain",
	"leases",
	"leases release",
	"suspend",
	"unsuspend",
	"ops",
	"version",
	"check",
	"install",
	"upgrade",
	"fleet",
	"fleet forget",
];

const meanings: Readonly<Record<keyof typeof exitCode, Meaning>> = {
	done: { means: "done" },
	error: { means: "an error or wrong usage, as with kubectl" },
	stoppedEarly: {
		means:
			"stopped before finishing, because the output was closed or an installation failed; run the same command to continue",
		commands: [
			"evict",
			"drain",
			"suspend",
			"unsuspend",
			"fleet forget",
			"install",
			"upgrade",
			"uninstall",
			"install certs",
		],
	},
	neverPossible: {
		means:
			"action needed: some pods can never be evicted as things are, or a check failed. Nothing was changed, except by an installation, which ends with a check",
		commands: ["plan", "explain", "check", "install", "upgrade"],
	},
	failedClosed: {
		means: "a member of the fleet was not reached in time: nothing that needs its answer was done",
		commands: asking,
	},
	notNow: {
		means: "it cannot be evicted now, but can be later, without any action",
		commands: ["explain"],
	},
	interrupted: { means: "interrupted by Ctrl-C" },
	terminated: { means: "interrupted by SIGTERM" },
};

export interface ExitCodeMeaning {
	readonly code: number;
	readonly means: string;
	readonly commands: readonly string[];
}

/** `all` has the names of all commands. Throws if a meaning names another one. */
export function exitCodeMeanings(all: readonly string[]): readonly ExitCodeMeaning[] {
	const names = Object.keys(meanings) as readonly (keyof typeof meanings)[];
	return names.map((name) => {
		const { means, commands = all } = meanings[name];
		const unknown = commands.filter((command) => !all.includes(command));
		if (unknown.length > 0) throw new Error(`Exit code "${name}" names commands that are none: ${unknown.join(", ")}`);
		return { code: exitCode[name], means, commands };
	});
}
