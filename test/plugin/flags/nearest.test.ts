import { expect, test } from "vitest";
import { nearest } from "../../../plugin/flags/nearest.ts";

test("nearest() finds what was meant within two errors, or by its beginning", () => {
	expect(nearest("evcit", ["evict", "drain"])).toBe("evict");
	expect(nearest("delete-empty", ["delete-emptydir-data", "force"])).toBe("delete-emptydir-data");
	expect(nearest("something", ["evict", "drain"])).toBeUndefined();
});

test("nearest() takes no more than one error in a short word", () => {
	expect(nearest("all", ["as", "user"])).toBeUndefined();
	expect(nearest("usr", ["as", "user"])).toBe("user");
	expect(nearest("bd", ["db", "web"])).toBe("db");
});
