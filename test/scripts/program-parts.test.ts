import { expect, test } from "vitest";
import * as screens from "../../plugin/ui/screens.ts";
import { screensStub } from "../../scripts/executable/program-parts.ts";

test("the executable hands on every screen of the part that it loads for them", () => {
	const [, names = ""] = /\{ (.*) \}/.exec(screensStub) ?? [];
	expect(names.split(", ").toSorted()).toEqual(Object.keys(screens).toSorted());
});
