// Sets up krew as users do: in its own folder, which is on the PATH beside kubectl.
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { controlPlane, krewPrograms } from "../controlplane/go-programs.ts";
import { findPrograms } from "../controlplane/program-cache.ts";

/** The programs that tests of krew need, or why they are missing. */
export type KrewPrograms =
	| { readonly kind: "found"; readonly kubectl: string; readonly krew: string; readonly validator: string }
	| { readonly kind: "missing"; readonly reason: string };

export async function findKrew(): Promise<KrewPrograms> {
	const [krew, programs] = [await findPrograms(krewPrograms), await findPrograms(controlPlane)];
	if (krew.kind === "missing") return krew;
	if (programs.kind === "missing") return programs;
	return {
		kind: "found",
		kubectl: programs.path("kubectl"),
		krew: krew.path("krew"),
		validator: krew.path("validate-krew-manifest"),
	};
}

export interface CommandEnd {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

export interface KrewHome {
	/** krew's own folder. store/ has the installed plugins, and bin/ has links to them. */
	readonly root: string;
	/** For programs that are not started by run(). */
	readonly environment: Readonly<Record<string, string>>;
	/** Runs kubectl, and never rejects. It is asynchronous, because this process may serve what is installed. */
	run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<CommandEnd>;
	/** Validates a manifest as krew's index does: installs the archive of each platform. */
	validate(manifest: string): Promise<CommandEnd>;
}

/** The folder need not exist. */
export function createKrewHome(dir: string, programs: KrewPrograms): KrewHome {
	if (programs.kind === "missing") throw new Error(`There is no krew: ${programs.reason}`);
	const [root, bin, home] = [join(dir, "krew"), join(dir, "bin"), join(dir, "home")];
	for (const folder of [root, bin, home]) mkdirSync(folder, { recursive: true });
	symlinkSync(programs.kubectl, join(bin, "kubectl"));
	symlinkSync(programs.krew, join(bin, "kubectl-krew"));
	// krew needs git on the PATH for its indexes.
	const path = [join(root, "bin"), bin, process.env["PATH"]].join(delimiter);
	const environment = { PATH: path, HOME: home, KREW_ROOT: root };
	const start = (program: string, args: readonly string[], env: Readonly<Record<string, string>>) => {
		const child = spawn(program, args, { cwd: dir, env, stdio: ["ignore", "pipe", "pipe"] });
		const output = { stdout: "", stderr: "" };
		for (const name of ["stdout", "stderr"] as const) {
			child[name].setEncoding("utf8").on("data", (text: string) => {
				output[name] += text;
			});
		}
		return new Promise<CommandEnd>((resolve) => {
			child.once("error", ({ message }) => resolve({ code: null, stdout: "", stderr: message }));
			child.once("close", (code) => resolve({ code, ...output }));
		});
	};
	return {
		root,
		environment,
		run: (args, more = {}) => start("kubectl", args, { ...environment, ...more }),
		validate: (manifest) => start(programs.validator, ["-manifest", manifest], environment),
	};
}
