// `node demo/training-fleet.ts FOLDER`: the build runs two small clusters with agents and the database. Calls of the plugin against them
// show V8 the code to compile. It prints the kubeconfig and the database's node when the database is healthy. It ends with its stdin.
import { HealthBoard } from "./health-board.ts";
import { buildPrograms } from "./machine/build-programs.ts";
import { startSmallFleet } from "./small-fleet.ts";

const [, , dir = ""] = process.argv;
const names = ["eu", "us"];
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
	times: { startMs: 10, readyMs: 10, stopMs: 10 },
	program: buildPrograms(() => undefined).then(({ agent }) => agent),
	environment: {},
	onPod: (health) => void board.apply(health),
});
try {
	const { kubeconfigPath, broken } = await fleet.ready;
	void board.complete(names.length).then(() => {
		console.log(JSON.stringify({ kubeconfig: kubeconfigPath, node: board.nodeOf("eu/db-0") }));
	});
	await Promise.race([broken, ended]);
} finally {
	await fleet.stop();
}
