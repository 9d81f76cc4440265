// Sets krew up as a user has it: in its own folder, which is on the PATH beside kubectl.
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { controlPlane, krewPrograms } from "../controlplane/go-programs.ts";
import { findPrograms } from "../controlplane/program-cache.ts";

/** The programs that krew needs on this machine. */
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
	/** krew's own folder. Installed plugins are in store/, with links in bin/. */
	readonly root: string;
	/** The environment for programs that are started in another way. */
	readonly environment: Readonly<Record<string, string>>;
	/** Runs kubectl with these arguments, and never rejects. This process continues meanwhile, because it may serve what is installed. */
	run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<CommandEnd>;
	/** Runs the validator of krew's index on a manifest. It installs the archive of each platform. */
	validate(manifest: string): Promise<CommandEnd>;
}

/** Creates the home in a folder, which need not exist. */
export function createKrewHome(dir: string, programs: KrewPrograms): KrewHome {
	if (programs.kind === "missing") throw new Error(`There is no krew: ${programs.reason}`);
	const [root, bin, home] = [join(dir, "krew"), join(dir, "bin"), join(dir, "home")];
	for (const folder of [root, bin, home]) mkdirSync(folder, { recursive: true });
	symlinkSync(programs.kubectl, join(bin, "kubectl"));
	symlinkSync(programs.krew, join(bin, "kubectl-krew"));
	// krew uses git for its indexes.
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
