/** The generator of the account reads, a process of its own: both sides get the same requests. */
import { answerParent } from "../child.ts"
import type { SliceResult } from "../load/protocol.ts"
import { runSlice } from "../load/runSlice.ts"
import type { ReadKind, ReadSlice } from "./protocol.ts"

const paths: { readonly [K in ReadKind]: string } = { balances: "/balances", overview: "/account/overview" }

const run = (slice: ReadSlice): Promise<SliceResult> => {
  const texts = slice.clientIds.map(
    (id) =>
      `GET /partner/v1/clients/${id}${paths[slice.kind]} HTTP/1.1\r\nHost: 127.0.0.1:${slice.port}\r\nAuthorization: Bearer ${slice.partnerKey}\r\n\r\n`
  )
  let at = 0
  return runSlice(
    slice,
    () => texts[at++ % texts.length] ?? null,
    () => undefined,
    false
  )
}

answerParent(run)
