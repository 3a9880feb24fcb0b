// `import "forkcast/vitest"`, in a test or in `setupFiles`: expect(requests).toKeepPrefix({ name: "agent" }).
import { expect } from "vitest";
import { toKeepPrefix, watch } from "./index.mjs";

watch();
expect.extend({ toKeepPrefix });
