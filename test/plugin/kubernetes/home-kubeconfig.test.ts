import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { homeKubeconfig } from "../../../plugin/kubernetes/home-kubeconfig.ts";

const config = (home: string) => join(home, ".kube", "config");

describe("homeKubeconfig()", () => {
	test("is in HOME, wherever else there are homes", () => {
		const env = { HOME: "/home/a", USERPROFILE: "/users/a" };
		expect(homeKubeconfig(env, { platform: "linux", exists: () => true })).toBe(config("/home/a"));
	});

	test.each([
		["the home of a shell", "C:/msys/a", ["C:/msys/a", "H:/a", "C:/Users/a"]],
		["the network home where the shell's has none", "H:/a", ["H:/a", "C:/Users/a"]],
		["the profile where no other has one", "C:/Users/a", ["C:/Users/a"]],
		["the first one where none has one", "C:/msys/a", []],
	])("is on Windows in %s", (_name, home, withConfig) => {
		const env = { HOME: "C:/msys/a", HOMEDRIVE: "H:", HOMEPATH: "/a", USERPROFILE: "C:/Users/a" };
		const exists = (path: string) => withConfig.map(config).includes(path);
		expect(homeKubeconfig(env, { platform: "win32", exists })).toBe(config(home));
	});

	test("is on Windows in the profile where nothing else is set", () => {
		const env = { HOME: "", USERPROFILE: "C:/Users/a" };
		expect(homeKubeconfig(env, { platform: "win32", exists: () => false })).toBe(config("C:/Users/a"));
	});
});
