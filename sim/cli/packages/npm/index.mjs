export { assertPrefix, capture, checkPrefix, findProgram, toKeepPrefix, watch, watching } from "./index.cjs";
