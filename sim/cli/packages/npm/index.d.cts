/** A body as sent. An object is written as the SDKs of Anthropic and OpenAI write it. */
export type Body = string | Uint8Array | object;

/** Bodies in the order in which they were sent; for several agents, those of each, by name. */
export type Requests = readonly Body[] | Readonly<Record<string, readonly Body[]>>;

export interface CheckOptions {
  /** The requests must also be those of this lock. */
  lock?: string;
  /** Writes the lock. Default: whether `FORKCAST_UPDATE` is 1. */
  update?: boolean;
  /** Further options of `forkcast check`. */
  options?: readonly string[];
}

export interface MatcherOptions {
  /** The requests must also be those of `__prefixes__/NAME.lock` beside the test. */
  name?: string;
  /** Further options of `forkcast check`. */
  options?: readonly string[];
}

/** Runs `agent`; the bodies of all prompts that it sends with the global `fetch`, as sent, in order. */
export function capture(agent: () => unknown): Promise<Buffer[]>;

/** Makes the global `fetch` note what captures send; clients made before the first capture need it. */
export function watch(): void;

/** A `fetch` that notes what captures send, for clients that take one. */
export function watching(send: typeof fetch): typeof fetch;

/** Checks the requests; `report` is the program's. Throws if they cannot be checked. */
export function checkPrefix(requests: Requests, options?: CheckOptions): { kept: boolean; report: string };

/** Throws an error with the program's report if a request breaks the cached prefix of an earlier one. */
export function assertPrefix(requests: Requests, options?: CheckOptions): void;

/** The program: `FORKCAST_BIN`, else the one in the package of this platform, else the one on `PATH`. */
export function findProgram(): string;

/** The matcher, for `expect.extend`. */
export function toKeepPrefix(
  this: unknown,
  received: Requests,
  options?: MatcherOptions,
): { pass: boolean; message: () => string };
