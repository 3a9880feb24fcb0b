#!/usr/bin/env node
"use strict";
const { runProgram } = require("../program.cjs");

process.exit(runProgram(process.argv.slice(2), { stdio: "inherit" }).status ?? 128);
