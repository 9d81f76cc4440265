import { expect, test } from "vitest";
import { type RunningCommand, runInOrder } from "./running-command.ts";

test("runInOrder() runs what happens meanwhile during the first command alone", async () => {
	const steps: string[] = [];
	const command = (name: string) => (): RunningCommand => {
		steps.push(name);
		return {
			finished: Promise.resolve({ code: 0, stdout: name, stderr: "" }),
			printed: async () => undefined,
			kill: () => undefined,
			stopReading: () => undefined,
		};
	};
	const results = await runInOrder([command("first"), command("second")], async () => void steps.push("meanwhile"));
	expect(steps).toEqual(["first", "meanwhile", "second"]);
	expect(results.map(({ stdout }) => stdout)).toEqual(["first", "second"]);
});
