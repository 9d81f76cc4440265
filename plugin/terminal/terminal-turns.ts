// Who has the terminal: a program that asks a person has it alone. The screen is away meanwhile, and what is written waits.
export interface GivesWay {
	/** Resolves when the terminal is as it was before the screen, and nothing reads from it. */
	leave(): Promise<void>;
	comeBack(): void;
}

export class TerminalTurns {
	#last: Promise<void> = Promise.resolve();
	#screen: GivesWay | undefined;
	#isTaken = false;
	#waiting: (() => void)[] = [];

	/** Nothing is to be drawn now. */
	get isTaken(): boolean {
		return this.#isTaken;
	}

	/** The screen from now on, until the function that this returns is called. */
	show(screen: GivesWay): () => void {
		this.#screen = screen;
		return () => {
			if (this.#screen === screen) this.#screen = undefined;
		};
	}

	/**
	 * Resolves when nobody else has the terminal, after `announce`; the function that it gives ends the turn. If the turn cannot begin, it rejects,
	 * and the next one does not wait.
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

	/** Writes now, or when the terminal is free again. */
	write(write: () => void): void {
		if (this.#isTaken) this.#waiting.push(write);
		else write();
	}

	/** For a process that ends: what waited is written, whoever has the terminal. If a write fails, the others are made before it throws. */
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
