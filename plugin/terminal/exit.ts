// What the plugin's exit codes mean. They are stable: scripts rest on them. Through kubectl on Windows only 0 and 1 survive.
export const exitCode = {
	done: 0,
	/** An error or a wrong use, as kubectl has it. */
	error: 1,
	/** Stopped before everything was done; the same command continues. */
	stoppedEarly: 2,
	/** Some pods can never go as things are, or a check has failed. Only an installation, which ends with one, has changed anything. */
	neverPossible: 3,
	/** Failed closed: a member of the fleet could not be reached. */
	failedClosed: 4,
	/** An explanation: it may not go now, and may later without anybody putting something right. */
	notNow: 5,
	/** Ctrl-C. */
	interrupted: 130,
	/** SIGTERM. */
	terminated: 143,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];
