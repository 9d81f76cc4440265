// Gives a prompt, or a program that needs user input, exclusive use of the terminal. Meanwhile, the screen is hidden and output waits.
export interface GivesWay {
	/** Resolves when the terminal is restored to its state before the screen, and nothing reads from it. */
	leave(): Promise<void>;
	comeBack(): void;
}

export class TerminalTurns {
	#last: Promise<void> = Promise.resolve();
	#screen: GivesWay | undefined;
	#isTaken = false;
	#waiting: (() => void)[] = [];

	/** While true, nothing may be drawn. */
	get isTaken(): boolean {
		return this.#isTaken;
	}

	/** Registers the current screen. The returned function removes it. */
	show(screen: GivesWay): () => void {
		this.#screen = screen;
		return () => {
			if (this.#screen === screen) this.#screen = undefined;
		};
	}

	/**
	 * Resolves when the terminal is free, after calling `announce`. The function that it resolves with ends the turn. If the turn cannot
	 * begin, it rejects, and the next turn does not wait.
	 */
	async take(announce: () => void = () => undefined): Promise<() => void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		const before = this.#last;
		this.#last = promise;
		const end = (): void => {
			try {
				this.#isTaken = false;
				this.#screen?.comeBack();
			} finally {
				resolve();
			}
		};
		await before;
		try {
			await this.#screen?.leave();
			announce();
		} catch (error) {
			end();
			throw error;
		}
		this.#isTaken = true;
		return () => {
			try {
				this.flush();
			} finally {
				end();
			}
		};
	}

	/** Writes now if the terminal is free, otherwise as soon as it is. */
	write(write: () => void): void {
		if (this.#isTaken) this.#waiting.push(write);
		else write();
	}

	/**
	 * Writes everything that waited, even while the terminal is taken: at the end of a turn, and before the process exits. If a write
	 * fails, still makes the others, and then throws the first error.
	 */
	flush(): void {
		const waiting = this.#waiting;
		this.#waiting = [];
		const problems: unknown[] = [];
		for (const write of waiting) {
			try {
				write();
			} catch (error) {
				problems.push(error);
			}
		}
		if (problems.length > 0) throw problems[0];
	}
}
