/** The load generator of the staking part, in a process of its own: all systems get the same requests. */
import { randomUUID } from "node:crypto"
import { answerParent } from "../child.ts"
import type { SliceResult } from "../load/protocol.ts"
import { runSlice } from "../load/runSlice.ts"
import type { ReadKind, StakingSlice } from "./protocol.ts"

const paths: { readonly [K in ReadKind]: string } = { balances: "/balances", overview: "/account/overview" }

const requestsOf = (slice: StakingSlice): (() => string | null) => {
  const { clientIds } = slice
  const head = `HTTP/1.1\r\nHost: 127.0.0.1:${slice.port}\r\nAuthorization: Bearer ${slice.partnerKey}\r\n`
  let at = 0
  const next = () => clientIds[at++ % clientIds.length]
  if (slice.kind !== "take") return () => `GET /partner/v1/clients/${next()}${paths[slice.kind]} ${head}\r\n`
  const body = JSON.stringify({ qty: slice.qty })
  const rest = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  const path = `/staking/${slice.offerId}/accept`
  const { count } = slice
  return () =>
    count !== null && at >= count
      ? null
      : `POST /partner/v1/clients/${next()}${path} ${rest}Idempotency-Key: ${randomUUID()}\r\n\r\n${body}`
}

const run = (slice: StakingSlice): Promise<SliceResult> =>
  runSlice(slice, requestsOf(slice), () => undefined, slice.kind === "take" && slice.count !== null)

answerParent(run)
