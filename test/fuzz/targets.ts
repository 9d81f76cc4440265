import type { FuzzTarget } from "./fuzz-target.ts";
import { answerTargets } from "./targets/answer-targets.ts";
import { apiAnswerTargets } from "./targets/api-answer-targets.ts";
import { apiObjectTargets } from "./targets/api-object-targets.ts";
import { argvTargets } from "./targets/argv-targets.ts";
import { budgetWatchTarget } from "./targets/budget-watch-target.ts";
import { configTargets } from "./targets/config-targets.ts";
import { domainTargets } from "./targets/domain-targets.ts";
import { frameTarget } from "./targets/frame-target.ts";
import { httpRequestTarget } from "./targets/http-request-target.ts";
import { identityTargets } from "./targets/identity-targets.ts";
import { knownMembersTarget } from "./targets/known-members-target.ts";
import { requestTarget } from "./targets/request-target.ts";
import { roundTarget } from "./targets/round-target.ts";
import { watchFrameTarget } from "./targets/watch-frame-target.ts";
import { watchTargets } from "./targets/watch-targets.ts";

export const targets: readonly FuzzTarget[] = [
	...domainTargets,
	...apiObjectTargets,
	roundTarget,
	...answerTargets,
	budgetWatchTarget,
	requestTarget,
	frameTarget,
	httpRequestTarget,
	...watchTargets,
	watchFrameTarget,
	...configTargets,
	...argvTargets,
	...apiAnswerTargets,
	...identityTargets,
	knownMembersTarget,
];

export function findTarget(name: string): FuzzTarget {
	const found = targets.find((target) => target.name === name);
	if (found) return found;
	throw new Error(`There is no target "${name}": there are ${targets.map((target) => target.name).join(", ")}`);
}
