#!/usr/bin/env node
// Runs the agent's process: reads the configuration, handles signals, and ends the process in order.
import { requireVerifiedTls } from "../proto/verified-tls.ts";
import { Agent } from "./agent.ts";
import { parseConfig } from "./process/config.ts";
import { createLogger, type Logger, reasonOf } from "./process/log.ts";

/** Less than the Deployment's grace period of 30 s, so that the agent can still log why it ends. */
const stopWithinMs = 25_000;

async function main(): Promise<void> {
	requireVerifiedTls(process.env);
	const config = await parseConfig(process.argv.slice(2), process.env);
	if ("help" in config) {
		console.log(config.help);
		return;
	}
	const log = createLogger(config.logLevel);
	endOnBugs(log);
	const agent = new Agent({ config, env: process.env, log });
	endOnSignals(agent, log);
	try {
		await agent.start();
	} catch (error) {
		if (!agent.isStopping) throw error;
	}
}

function endOnBugs(log: Logger): void {
	const end = (err: unknown): void => {
		log.fatal({ err }, "The agent ends on a bug");
		process.exit(1);
	};
	process.on("uncaughtException", end);
	process.on("unhandledRejection", end);
}

function endOnSignals(agent: Agent, log: Logger): void {
	let stopping = false;
	const stop = (signal: NodeJS.Signals): void => {
		if (stopping) return;
		stopping = true;
		log.info({ signal }, "The agent is shutting down");
		setTimeout(() => {
			log.error("The agent ends with calls still open");
			process.exit(0);
		}, stopWithinMs).unref();
		agent.stop().then(
			() => {
				log.info("The agent has ended");
				process.exit(0);
			},
			(err: unknown) => {
				log.error({ err }, "The agent could not end in order");
				process.exit(1);
			},
		);
	};
	process.on("SIGTERM", stop);
	process.on("SIGINT", stop);
}

try {
	await main();
} catch (error) {
	// A wrong flag, file or address needs no stack trace.
	const known = error instanceof Error && (reasonOf(error) !== undefined || error.message.startsWith("cannot "));
	console.error(known ? `error: ${error.message}` : error);
	process.exit(1);
}
