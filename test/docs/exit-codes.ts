// What the plugin's exit codes mean, and which commands end with them.
import { exitCode } from "../../plugin/terminal/exit.ts";

interface Meaning {
	readonly means: string;
	/** Left out: all of them. */
	readonly commands?: readonly string[];
}

/** Those that ask the fleet. */
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
	error: { means: "an error or wrong use, as kubectl" },
	stoppedEarly: {
		means:
			"stopped early, because nobody takes the output any more, or as an installation fails in the middle; some of it is not done, the same command continues",
		commands: ["evict", "drain", "suspend", "unsuspend", "install", "upgrade", "uninstall", "install certs"],
	},
	neverPossible: {
		means:
			"something has to be put right: some pods can never go as things are, or a check has failed; only an installation, which ends with one, has changed anything",
		commands: ["plan", "explain", "check", "install", "upgrade"],
	},
	failedClosed: {
		means: "a member of the fleet could not be reached, or not in time: what needs its answer was not done",
		commands: asking,
	},
	notNow: {
		means: "it may not go now; it may later, without anybody putting something right",
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

/** Of these commands, which are all that there are. */
export function exitCodeMeanings(all: readonly string[]): readonly ExitCodeMeaning[] {
	const names = Object.keys(meanings) as readonly (keyof typeof meanings)[];
	return names.map((name) => {
		const { means, commands = all } = meanings[name];
		const unknown = commands.filter((command) => !all.includes(command));
		if (unknown.length > 0) throw new Error(`Exit code "${name}" names commands that are none: ${unknown.join(", ")}`);
		return { code: exitCode[name], means, commands };
	});
}
