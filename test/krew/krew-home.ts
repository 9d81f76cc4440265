// krew as a person has it: in a folder of its own, which is on the PATH, beside kubectl.
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { controlPlane, krewPrograms } from "../controlplane/go-programs.ts";
import { findPrograms } from "../controlplane/program-cache.ts";

/** What krew needs of this machine. */
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
	/** krew's own: what is installed is in store/, links to it are in bin/. */
	readonly root: string;
	/** For programs that are started some other way. */
	readonly environment: Readonly<Record<string, string>>;
	/** kubectl with these words; never rejects. This process goes on meanwhile: it may serve what is installed. */
	run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<CommandEnd>;
	/** What its index's own validator says of a manifest: it installs the archive of each platform. */
	validate(manifest: string): Promise<CommandEnd>;
}

/** In the folder, which need not be there. */
export function createKrewHome(dir: string, programs: KrewPrograms): KrewHome {
	if (programs.kind === "missing") throw new Error(`There is no krew: ${programs.reason}`);
	const [root, bin, home] = [join(dir, "krew"), join(dir, "bin"), join(dir, "home")];
	for (const folder of [root, bin, home]) mkdirSync(folder, { recursive: true });
	symlinkSync(programs.kubectl, join(bin, "kubectl"));
	symlinkSync(programs.krew, join(bin, "kubectl-krew"));
	// krew asks git for its indexes.
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
