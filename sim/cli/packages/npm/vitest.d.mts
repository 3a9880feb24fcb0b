import "vitest";
import type { MatcherOptions } from "./index.cjs";

declare module "vitest" {
  interface Matchers<T = any> {
    /** Every request keeps the cached prefix of the one before; with a name, they are also those of its lock. */
    toKeepPrefix(options?: MatcherOptions): void;
  }
}
