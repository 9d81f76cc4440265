import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { boundToParent } from "../../demo/machine/process.ts";
import { codeOf, SetupError } from "../../demo/machine/setup-error.ts";
import { ProgramsUnavailableError } from "./fleet-errors.ts";
import type { GoModule, GoPrograms } from "./go-programs.ts";

const minimumGo = [1, 26] as const;
const goEnvironment = { CGO_ENABLED: "0", GOFLAGS: "-trimpath -buildvcs=false", GOTOOLCHAIN: "local" };
export const goFolder = join(dirname(fileURLToPath(import.meta.url)), "go");

function linkerFlags(module: GoModule): string {
	return ["-s", "-w", ...module.stamps(requiredVersion(module)).map((stamp) => `-X=${stamp}`)].join(" ");
}

function requiredVersion(module: GoModule): string {
	const escaped = module.main.replaceAll(".", "\\.");
	const found = new RegExp(`\\b${escaped} (v\\S+)`).exec(readFileSync(join(goFolder, module.folder, "go.mod"), "utf8"));
	if (found?.[1] === undefined) {
		throw new Error(`Cannot find the version of "${module.main}" in go/${module.folder}/go.mod`);
	}
	return found[1];
}

/** Returns a hash of everything that determines the binaries, except the Go version. */
export function sourceKey({ modules }: GoPrograms): string {
	const hash = createHash("sha256");
	for (const module of modules) {
		const folder = join(goFolder, module.folder);
		const sources = readdirSync(folder).filter((name) => name.endsWith(".go"));
		for (const name of ["go.mod", "go.sum", ...sources.toSorted()]) hash.update(readFileSync(join(folder, name)));
		const { packages, tags } = module;
		const how = [packages, linkerFlags(module), goEnvironment, process.platform, process.arch];
		hash.update(JSON.stringify(tags === undefined ? how : [...how, tags]));
	}
	return hash.digest("hex").slice(0, 16);
}

export type GoVersion =
	| { readonly kind: "found"; readonly version: string }
	| { readonly kind: "missing"; readonly reason: string };

export function findGo(): GoVersion {
	const result = spawnSync("go", ["env", "GOVERSION"], {
		encoding: "utf8",
		env: { ...process.env, GOTOOLCHAIN: "local" },
	});
	if (result.error !== undefined || result.status !== 0) {
		return { kind: "missing", reason: "no Go on the PATH" };
	}
	const version = result.stdout.trim();
	const [, major, minor] = /^go(\d+)\.(\d+)/.exec(version) ?? [];
	if (Number(major) < minimumGo[0] || (Number(major) === minimumGo[0] && Number(minor) < minimumGo[1])) {
		return { kind: "missing", reason: `${version} is too old, Go ${minimumGo.join(".")} or newer is needed` };
	}
	return { kind: "found", version };
}

/** The target folder appears only when it is complete. */
export async function buildPrograms(
	{ what, duration, modules }: GoPrograms,
	target: string,
	log: (line: string) => void,
): Promise<void> {
	const temporary = `${target}.building-${process.pid}`;
	rmSync(temporary, { recursive: true, force: true });
	mkdirSync(temporary, { recursive: true });
	const startedAt = performance.now();
	log(`Building ${what} from Go modules: ${duration} the first time, then never again`);
	try {
		for (const module of modules) {
			await buildModule(module, temporary, log);
			for (const [from, to] of Object.entries(module.renames ?? {}))
				renameSync(join(temporary, from), join(temporary, to));
		}
		publish(temporary, target);
	} finally {
		rmSync(temporary, { recursive: true, force: true });
	}
	log(`All of it built in ${elapsed(startedAt)}`);
}

function publish(temporary: string, target: string): void {
	try {
		renameSync(temporary, target);
	} catch (error) {
		// Another run published a build with the same key first.
		if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") {
			throw error;
		}
	}
}

async function buildModule(module: GoModule, output: string, log: (line: string) => void): Promise<void> {
	const startedAt = performance.now();
	const names = module.packages.length === 1 ? module.folder : module.packages.map((path) => basename(path)).join(", ");
	log(`Building ${names} (${requiredVersion(module)})`);
	const { command, args } = boundToParent("go", [
		"build",
		"-v",
		...(module.tags === undefined ? [] : [`-tags=${module.tags.join(",")}`]),
		"-ldflags",
		linkerFlags(module),
		"-o",
		`${output}/`,
		...module.packages,
	]);
	const child = spawn(command, args, {
		cwd: join(goFolder, module.folder),
		env: { ...process.env, ...goEnvironment },
		stdio: ["ignore", "ignore", "pipe"],
	});
	const progress = { packages: 0, tail: [] as string[] };
	createInterface({ input: child.stderr }).on("line", (line) => {
		// With -v, Go prints the path of each package. All other lines are about downloads or errors.
		if (/^[\w./~-]+$/.test(line)) progress.packages += 1;
		progress.tail = [...progress.tail, line].slice(-12);
	});
	const heartbeat = setInterval(() => {
		const step =
			progress.tail.at(-1)?.startsWith("go: downloading") === true
				? "downloading modules"
				: `${progress.packages} packages compiled, then linking`;
		log(`Still building ${names}: ${elapsed(startedAt)}, ${step}`);
	}, 15_000);
	try {
		const code = await new Promise<number | null>((resolve, reject) => {
			child.once("error", reject);
			child.once("close", resolve);
		});
		if (code !== 0) {
			throw buildFailure(names, progress.tail.join("\n"));
		}
	} finally {
		clearInterval(heartbeat);
	}
	log(`Built ${names} in ${elapsed(startedAt)}`);
}

function buildFailure(names: string, output: string): SetupError {
	// Only an unreachable network makes the programs unavailable. Other failures are errors of this repository.
	if (/dial tcp|no such host|i\/o timeout|connection refused|GOPROXY/.test(output)) {
		return new ProgramsUnavailableError(`Cannot download the Go modules of ${names}`, {
			hint: `The Go module proxy cannot be reached. Go said:\n${output}`,
		});
	}
	return new SetupError(`Cannot build ${names}`, { hint: `Go said:\n${output}` });
}

function elapsed(startedAt: number): string {
	const seconds = Math.round((performance.now() - startedAt) / 1000);
	return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
