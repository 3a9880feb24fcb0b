#!/usr/bin/env node
"use strict";
const { spawnSync } = require("node:child_process");
const { findProgram } = require("../index.cjs");

const run = spawnSync(findProgram(), process.argv.slice(2), { stdio: "inherit" });
if (run.error) throw run.error;
process.exit(run.status ?? 128);
