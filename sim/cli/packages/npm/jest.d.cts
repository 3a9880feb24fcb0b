import type { MatcherOptions } from "./index.cjs";

declare global {
  namespace jest {
    interface Matchers<R, T = {}> {
      /** Every request keeps the cached prefix of the one before; with a name, they are also those of its lock. */
      toKeepPrefix(options?: MatcherOptions): R;
    }
  }
}
