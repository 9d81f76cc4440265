// Implements `kubectl xpdb completion`: prints completion scripts, and installs the program that kubectl runs for the Tab key.
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { CommandRunner } from "../flags/command.ts";
import { removeKeptNames } from "../kubernetes/kept-names.ts";
import { errorText } from "../kubernetes/api-error.ts";
import { UsageError } from "../terminal/errors.ts";
import { exitCode } from "../terminal/exit.ts";
import type { TextSink } from "../terminal/streams.ts";

const program = "kubectl-xpdb";
/** kubectl looks for this program on PATH, from version 1.26 on. */
const shim = "kubectl_complete-xpdb";
const mark = "Written by kubectl xpdb completion install";

export const runCompletion: CommandRunner = async ({ words }, { streams, env }) => {
	const [what = "", ...more] = words;
	if (more.length > 0) throw usage();
	const script = Object.hasOwn(scripts, what) ? scripts[what] : undefined;
	if (script !== undefined) streams.stdout.write(script);
	else if (what === "install") install(env, streams.stdout);
	else if (what === "uninstall") uninstall(env, streams.stdout);
	else throw usage();
	return exitCode.done;
};

function usage(): UsageError {
	return new UsageError(
		"USAGE: completion bash|zsh|fish|install|uninstall",
		"See 'kubectl xpdb completion --help' for usage.",
	);
}

/** Writes the shim into the program's folder, so that kubectl finds both. */
function install(env: NodeJS.ProcessEnv, stdout: TextSink): void {
	const path = join(programFolder(env), process.platform === "win32" ? `${shim}.cmd` : shim);
	if (existsSync(path) && !isOurs(path)) {
		throw new UsageError(`${path} is there already, and not ours: nothing was written`, "Move it away first");
	}
	const text =
		process.platform === "win32"
			? `@rem ${mark}\r\n@${program} __complete %*\r\n`
			: `#!/bin/sh\n# ${mark}\nexec ${program} __complete "$@"\n`;
	try {
		writeFileSync(path, text, { mode: 0o755 });
	} catch (error) {
		throw new UsageError(`cannot write ${path}: ${errorText(error)}`, "Run it as a user who may write there");
	}
	stdout.write(`${path} written: kubectl completes its plugin xpdb where kubectl's own completion is set up\n`);
}

function uninstall(env: NodeJS.ProcessEnv, stdout: TextSink): void {
	const paths = foldersOf(env).flatMap((folder) => [join(folder, shim), join(folder, `${shim}.cmd`)]);
	const ours = [...new Set(paths)].filter((path) => existsSync(path) && isOurs(path));
	for (const path of ours) {
		rmSync(path);
		stdout.write(`${path} removed\n`);
	}
	if (ours.length === 0) stdout.write(`There is no ${shim} of ours on PATH\n`);
	const names = removeKeptNames(env);
	if (names !== undefined) stdout.write(`${names} removed\n`);
}

function isOurs(path: string): boolean {
	return readFileSync(path, "utf8").includes(mark);
}

function foldersOf({ PATH = "", Path = "" }: NodeJS.ProcessEnv): readonly string[] {
	return (PATH || Path).split(delimiter).filter((folder) => folder !== "");
}

function programFolder(env: NodeJS.ProcessEnv): string {
	const names = process.platform === "win32" ? [`${program}.exe`, `${program}.cmd`] : [program];
	const folder = foldersOf(env).find((each) => names.some((name) => isExecutable(join(each, name))));
	if (folder !== undefined) return folder;
	throw new UsageError(`there is no ${program} on PATH, beside which it would be written`, "Install the plugin first");
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/** Bash splits words at "=" and ":", so the part before them must not be repeated. */
const bash = `# bash completion for ${program}: source <(kubectl xpdb completion bash)
_kubectl_xpdb() {
	local line="\${COMP_LINE:0:COMP_POINT}" part="\${COMP_WORDS[COMP_CWORD]}" words value current
	read -ra words <<< "$line"
	[[ "$line" == *[[:space:]] ]] && words+=("")
	current="\${words[\${#words[@]}-1]}"
	[[ "$part" == "=" || "$part" == ":" ]] && part=""
	COMPREPLY=()
	while IFS= read -r value; do
		if [[ "$value" == :* ]]; then
			[[ "$value" == ":0" ]] && compopt -o default 2>/dev/null
			(( \${value#:} & 2 )) && compopt -o nospace 2>/dev/null
			continue
		fi
		value="\${value%%$'\\t'*}"
		COMPREPLY+=("\${value#"\${current%"$part"}"}")
	done < <("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null)
}
complete -F _kubectl_xpdb ${program}
`;

const zsh = `#compdef ${program}
# zsh completion for ${program}: source <(kubectl xpdb completion zsh)
_kubectl_xpdb() {
	local line directive
	local -a values
	while IFS= read -r line; do
		if [[ "$line" == :* ]]; then directive="\${line#:}"; continue; fi
		line="\${line//:/\\:}"
		values+=("\${line/$'\\t'/:}")
	done < <(\${words[1]} __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
	if (( \${#values} )); then
		if (( directive & 2 )); then _describe 'xpdb' values -S ''; else _describe 'xpdb' values; fi
	elif [[ "$directive" == 0 ]]; then
		compset -P '--*='
		_files
	fi
}
compdef _kubectl_xpdb ${program}
`;

const fish = `# fish completion for ${program}: kubectl xpdb completion fish | source
function __kubectl_xpdb_complete
	set -l typed (commandline -ct)
	set -l words (commandline -opc) $typed
	set -l lines ($words[1] __complete $words[2..-1] 2>/dev/null)
	string match -v -r '^:' -- $lines
	contains -- ':0' $lines; or return
	set -l flag (string match -r -- '^--[^=]+=' $typed)
	for path in (__fish_complete_path (string replace -r -- '^--[^=]+=' '' $typed))
		echo "$flag$path"
	end
end
complete -c ${program} -f -a '(__kubectl_xpdb_complete)'
`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };
