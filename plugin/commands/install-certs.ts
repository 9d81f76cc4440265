// Implements `kubectl xpdb install certs`: gives the agents of a fleet new certificates, changes the fleet's CA, or moves its key, while
// the fleet keeps working.
import { booleanFlag, type CommandRunner, textFlag, timeoutFlag } from "../flags/command.ts";
import { parseDryRun } from "../flags/dry-run.ts";
import { readAuthorityFiles } from "../install/certificate-flags.ts";
import { moveAuthority } from "../install/move-authority.ts";
import { pretendRotation } from "../install/pretended-rotation.ts";
import {
	changeAuthority,
	type RotationOptions,
	RotationStuckError,
	renewCertificates,
} from "../install/rotate-certificates.ts";
import { openRotationWorld } from "../install/rotation-world.ts";
import { dryRunSuffix } from "../output/dry-run-suffix.ts";
import { withContexts } from "../run/with-contexts.ts";
import { askToContinue } from "../terminal/confirm.ts";
import { UsageError } from "../terminal/errors.ts";
import { exitCode } from "../terminal/exit.ts";

export const runInstallCerts: CommandRunner = async (input, deps) => {
	const { streams, interrupts } = deps;
	const isChange = booleanFlag(input, "ca");
	const isRotation = booleanFlag(input, "rotate");
	const keepIn = textFlag(input, "keep-in") || undefined;
	if (!isRotation && (isChange || keepIn === undefined)) {
		throw new UsageError(
			"install certs replaces existing certificates",
			"Use --rotate, --rotate --ca for a new CA, or --keep-in to move the CA's key",
		);
	}
	if (isRotation && keepIn !== undefined && !isChange) {
		throw new UsageError(
			"--keep-in with --rotate also needs --ca",
			"Add --ca for a new CA, or run --keep-in without --rotate to move the key first",
		);
	}
	const dryRun = parseDryRun(textFlag(input, "dry-run"), streams.stderr);
	const isPretended = dryRun !== "none";
	const authority = readAuthorityFiles(input);
	if (authority && authority.key === undefined) {
		throw new UsageError("--ca-cert without its key cannot sign", "Give it with --ca-key");
	}
	if (authority && keepIn !== undefined) {
		throw new UsageError("--keep-in and --ca-key exclude each other: no cluster keeps a key from a file");
	}
	const given = authority?.key === undefined ? undefined : { certificate: authority.certificate, key: authority.key };
	return withContexts(input, deps, async (contexts) => {
		const opened = await openRotationWorld(contexts, {
			ca: given?.certificate,
			signal: interrupts.stop,
			dryRun: isPretended,
		});
		const { unseen } = opened;
		const world = isPretended ? pretendRotation(opened.world, { rehearse: dryRun === "server" }) : opened.world;
		const tell = (line: string): void => streams.stdout.write(`${line}${dryRunSuffix(dryRun)}\n`);
		if (isChange && unseen.length > 0) {
			throw new UsageError(
				`${unseen.join(", ")} would not know the new CA, and be refused: nothing was touched`,
				"Name the contexts of all members with --contexts",
			);
		}
		const agree = async (question: string): Promise<boolean> => {
			if (isPretended || booleanFlag(input, "yes")) return true;
			streams.stderr.write(`${question}\n`);
			return askToContinue("a change of certificates needs a confirmation", interrupts.stop, streams);
		};
		const names = contexts.map(({ name }) => name).join(", ");
		if (!isRotation) {
			if (!(await agree(`Move the CA's key to ${keepIn} from the one of ${names} that keeps it.`))) {
				streams.stderr.write("Nothing was touched.\n");
				return exitCode.error;
			}
			const [{ agents } = { agents: { namespace: "" } }] = contexts;
			await moveAuthority(world, {
				agentNamespace: agents.namespace,
				keepIn: keepIn ?? "",
				tell,
			});
			return exitCode.done;
		}
		const what = isChange
			? "Change the fleet's CA, and with it the agents' certificates,"
			: "Renew the agents' certificates";
		if (!(await agree(`${what} in ${names}. Drains go on meanwhile.`))) {
			streams.stderr.write("Nothing was touched.\n");
			return exitCode.error;
		}
		const options: RotationOptions = {
			agentNamespace: contexts[0]?.agents.namespace ?? "",
			authority: given,
			keepIn,
			date: new Date(),
			timeoutMs: timeoutFlag(input),
			tell,
			mayGoOn: async () =>
				agree("All agents trust both CAs. Runs that began before this do not know the new one: let them end."),
		};
		interrupts.graceful();
		try {
			const outcome = isChange ? await changeAuthority(world, options) : await renewCertificates(world, options);
			if (outcome !== "stopped") {
				tell(isChange ? "The fleet has a new CA" : "The certificates are renewed");
				return exitCode.done;
			}
			streams.stderr.write(
				"Stopped: both CAs are trusted, and certificates are of the old one. Run the same command to continue.\n",
			);
			return exitCode.stoppedEarly;
		} catch (error) {
			const isStuck = error instanceof RotationStuckError;
			if (!isStuck && !interrupts.stop.aborted) throw error;
			if (isStuck) streams.stderr.write(`error: ${error.message}\n`);
			streams.stderr.write("What was done stands, and no agent is refused. Run the same command to continue.\n");
			return interrupts.stoppedBy ?? exitCode.stoppedEarly;
		}
	});
};
