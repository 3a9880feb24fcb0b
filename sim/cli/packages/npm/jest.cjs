"use strict";
// `require("forkcast/jest")`, in a test or in `setupFilesAfterEnv`: expect(requests).toKeepPrefix({ name: "agent" }).
const { toKeepPrefix, watch } = require("./index.cjs");

watch();
expect.extend({ toKeepPrefix });
