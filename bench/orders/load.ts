/** The load generator of the orders part, in a process of its own: all systems get the same requests. */
import { randomUUID } from "node:crypto"
import { answerParent } from "../child.ts"
import { runSlice } from "../load/runSlice.ts"
import type { OrderResult, OrderSlice } from "./protocol.ts"

const requestsOf = (slice: OrderSlice): (() => string | null) => {
  const common = ` HTTP/1.1\r\nHost: 127.0.0.1:${slice.port}\r\nAuthorization: Bearer ${slice.partnerKey}\r\n`
  const path = (clientId: number | undefined, rest: string) => `/partner/v1/clients/${clientId}${rest}`
  let at = 0
  if (slice.kind === "cancel") {
    const { orders } = slice
    return () => {
      const order = orders[at++]
      return order === undefined ? null : `DELETE ${path(order[0], `/orders/${order[1]}`)}${common}\r\n`
    }
  }
  const { clientIds } = slice
  const nextClient = () => clientIds[at++ % clientIds.length]
  if (slice.kind === "list") return () => `GET ${path(nextClient(), "/orders?limit=500")}${common}\r\n`
  if (slice.kind === "margin") return () => `GET ${path(nextClient(), "/margin")}${common}\r\n`
  const body = JSON.stringify({ ...slice.order, type: "LIMIT" })
  const head = `${common}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  if (slice.kind === "preview") return () => `POST ${path(nextClient(), "/margin/preview")}${head}\r\n${body}`
  const count = slice.kind === "place" ? slice.count : null
  return () =>
    count !== null && at >= count
      ? null
      : `POST ${path(nextClient(), "/orders")}${head}Idempotency-Key: ${randomUUID()}\r\n\r\n${body}`
}

const run = async (slice: OrderSlice): Promise<OrderResult> => {
  let last = ""
  const byList = slice.kind === "cancel" || (slice.kind === "place" && slice.count !== null)
  const found = await runSlice(slice, requestsOf(slice), (answer) => void (last = answer.text()), byList)
  return { ...found, lastText: last.slice(last.indexOf("\r\n\r\n") + 4) }
}

answerParent(run)
