// Usage: `node demo/training-fleet.ts FOLDER`. Runs two small clusters with agents and the database. The build runs the plugin against
// them, so that V8 compiles the code that calls need. Prints the kubeconfig and a node of the database when everything is healthy. Ends
// when stdin closes.
//
// The calls must run the same code on a busy machine as on an idle one, or the built program would have other bytes. So all agents are
// ready before the calls. An evicted pod stops after 500 ms, so that the plugin's first look still finds it.
import { HealthBoard } from "./health-board.ts";
import { buildPrograms } from "./machine/build-programs.ts";
import { startSmallFleet } from "./small-fleet.ts";

const [, , dir = ""] = process.argv;
const names = ["eu", "us"];
/** The replicas in agent/deploy/deployment.yaml. */
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
