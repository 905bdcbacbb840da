/** The load generator's process. It receives slices from the benchmark over the IPC channel, one at a time. */
import { answerParent } from "../child.ts"
import type { Slice } from "./protocol.ts"
import { makeRequests } from "./requests.ts"
import { runSlice } from "./runSlice.ts"

answerParent((slice: Slice) => runSlice(slice, makeRequests(slice), () => {}, slice.kind === "readOnce"))
