import { expect, test } from "vitest";
import { hasNotStarted } from "../../../plugin/kubernetes/pod-status.ts";

test("a pod that agents count as healthy has started, whatever its phase says", () => {
	const pending = (is: string) => ({ status: { phase: "Pending", conditions: [{ type: "Ready", status: is }] } });
	expect(hasNotStarted(pending("False"))).toBe(true);
	expect(hasNotStarted(pending("True"))).toBe(false);
});
