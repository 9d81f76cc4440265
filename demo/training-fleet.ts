// `node demo/training-fleet.ts FOLDER`: the build runs two small clusters with agents and the database. Calls of the plugin against them
// show V8 the code to compile. It prints the kubeconfig and the database's node when everything is healthy. It ends with its stdin.
//
// The calls must run the same code however busy the machine is, or the program would have other bytes. So they meet no agent that is
// still starting, and an evicted pod is there when they look for it the first time, and gone a second later.
import { HealthBoard } from "./health-board.ts";
import { buildPrograms } from "./machine/build-programs.ts";
import { startSmallFleet } from "./small-fleet.ts";

const [, , dir = ""] = process.argv;
const names = ["eu", "us"];
/** The replicas of agent/deploy/deployment.yaml. */
const agentsEach = 2;
const board = new HealthBoard(2 * names.length, ["app", "db"]);
const ended = new Promise<void>((resolve) => {
	process.stdin.once("end", resolve);
	process.stdin.resume();
});
const fleet = startSmallFleet({
	names,
	dir,
	port: 0,
	nodes: 3,
	times: { startMs: 10, readyMs: 10, stopMs: 500 },
	program: buildPrograms(() => undefined).then(({ agent }) => agent),
	environment: {},
	onPod: (health) => void board.apply(health),
});
try {
	const { kubeconfigPath, broken } = await fleet.ready;
	void board.complete(names.length, agentsEach).then(() => {
		console.log(JSON.stringify({ kubeconfig: kubeconfigPath, node: board.nodeOf("eu/db-0") }));
	});
	await Promise.race([broken, ended]);
} finally {
	await fleet.stop();
}
