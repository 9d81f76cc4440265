import { describe, expect, test } from "vitest";
import { question } from "../../../plugin/run/question.ts";
import { newContext } from "../../support/build-context.ts";
import { newV1Pod } from "../../support/build-v1-pod.ts";

const [eu, us] = [newContext("eu"), newContext("production-us")];
const node = (name: string, context = eu) => ({ context, name, uid: `uid-${name}`, unschedulable: false });
const pod = (name: string, context = eu) => ({ context, pod: newV1Pod(name) });

describe("question()", () => {
	test("names all nodes, context by context, one below the other", () => {
		const nodes = [node("n1"), node("n4", us), node("n2")];
		expect(question("drain", { nodes, pods: [] })).toEqual([
			"Drain 3 nodes in 2 contexts:",
			"  eu             n1, n2",
			"  production-us  n4",
		]);
	});

	test("counts the pods and names the first five of each context", () => {
		const pods = [...["a", "b", "c", "d", "e", "f"].map((name) => pod(name)), pod("z", us)];
		expect(question("evict", { nodes: [], pods })).toEqual([
			"Evict 7 pods in 2 contexts:",
			"  eu  6 pods: default/a, default/b, default/c, default/d, default/e, ...",
			"  production-us  1 pod: default/z",
		]);
	});
});
