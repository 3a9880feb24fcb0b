// The test runners and SDKs that `.ci/run` installs below `target`; a test of one that is missing there is skipped.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const tools = fileURLToPath(new URL("../../../../../target/tools/npm/node_modules", import.meta.url));

/** Why a test of this tool cannot run, or false. */
export const missing = (name) => !existsSync(join(tools, name)) && `${name} is not installed in target/tools/npm`;

export const load = (name) => import(pathToFileURL(createRequire(join(tools, "tools.js")).resolve(name)));
