// Runs a program of an unpacked image almost as in a container: unprivileged, with only the image's files, read-only, as the image's user.
// It shares the machine's network.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";

const inNamespaces = ["unshare", "--user", "--map-root-user", "--mount", "--"] as const;

/** Returns why containment is impossible here. Undefined if it is possible. */
export function missingForContained(): string | undefined {
	const [program, ...args] = inNamespaces;
	const { status, error } = spawnSync(program, [...args, "unshare", "--user", "--map-user=65532", "true"]);
	return status === 0 ? undefined : `no user namespaces: ${error?.message ?? "unshare may not"}`;
}

const enter = `
root=$1; shift
mount --bind "$root" "$root" && mount -o remount,bind,ro,nosuid,nodev "$root" &&
exec unshare --user --map-user=65532 --map-group=65532 --root="$root" --wd=/ "$@"
`;

export interface Contained extends AsyncDisposable {
	readonly output: () => string;
	/** The exit code. */
	readonly ended: Promise<number | null>;
	signal(name: NodeJS.Signals): void;
}

export function startContained(
	root: string,
	command: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Contained {
	const [program, ...args] = inNamespaces;
	const child: ChildProcessWithoutNullStreams = spawn(
		program,
		[...args, "/bin/sh", "-c", enter, "sh", root, ...command],
		{
			env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...env },
		},
	);
	let output = "";
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding("utf8").on("data", (text: string) => {
			output += text;
		});
	}
	const kill = (): void => void child.kill("SIGKILL");
	process.once("exit", kill);
	const ended = new Promise<number | null>((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code) => {
			process.off("exit", kill);
			resolve(code);
		});
	});
	return {
		output: () => output,
		ended,
		signal: (name) => void child.kill(name),
		async [Symbol.asyncDispose]() {
			kill();
			await ended;
		},
	};
}
