// Reads the plugin's version from the one package.json.
import manifest from "../../package.json" with { type: "json" };

export const clientVersion = `v${manifest.version}`;
