/**
 * The load generator of the money part, in a process of its own. A request may need the previous answer: a filed notice
 * is confirmed, and a requested withdrawal is cancelled, by any free connection.
 */
import { randomUUID } from "node:crypto"
import { answerParent } from "../child.ts"
import { runSlice } from "../load/runSlice.ts"
import { bulkEntries, depositAmount, type MoneyResult, type MoneySlice, withdrawalAmount } from "./protocol.ts"

interface Traffic {
  /** Null: no request is left to send. */
  readonly next: () => string | null
  readonly onSuccess: (text: string) => void
  readonly done: () => number
}

type Send = (key: string, path: string, body?: string, keyed?: boolean) => string

const sender =
  ({ port }: MoneySlice): Send =>
  (key, path, body, keyed = false) => {
    const common = ` HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n`
    const replay = keyed ? `Idempotency-Key: ${randomUUID()}\r\n` : ""
    return body === undefined
      ? `GET ${path}${common}\r\n`
      : `POST ${path}${common}${replay}${body === "" ? "" : "Content-Type: application/json\r\n"}Content-Length: ${body.length}\r\n\r\n${body}`
  }

const clients = "/partner/v1/clients"

/** Decides a filed object if one waits; otherwise files the next one. */
const pairs = (
  slice: MoneySlice,
  idIn: RegExp,
  waiting: string,
  first: (clientId: number, reference: string) => string,
  second: (id: number, clientId: number) => string
): Traffic => {
  const open: Array<readonly [id: number, clientId: number]> = []
  let count = 0
  let done = 0
  return {
    next: () => {
      const decided = open.pop()
      if (decided !== undefined) return second(...decided)
      const clientId = slice.clientIds[count % slice.clientIds.length] as number
      return first(clientId, `${slice.tag}-${count++}`)
    },
    onSuccess: (text) => {
      if (!text.includes(`"status":"${waiting}"`)) return void done++
      open.push([Number(idIn.exec(text)?.[1]), Number(/"clientId":(\d+)/.exec(text)?.[1])])
    },
    done: () => done
  }
}

const trafficOf = (slice: MoneySlice): Traffic => {
  const send = sender(slice)
  const { partnerKey, operatorKey, clientIds, itemIds } = slice
  const body = (partnerRef: string, amount: string) => JSON.stringify({ partnerRef, currency: "USDC", amount })
  let at = 0
  switch (slice.kind) {
    case "deposits":
      return pairs(
        slice,
        /"noticeId":(\d+)/,
        "PENDING",
        (id, ref) => send(partnerKey, `${clients}/${id}/deposits`, body(ref, depositAmount), true),
        (id) => send(operatorKey, `/operator/v1/deposits/${id}/confirm`, "{}")
      )
    case "withdrawals":
      return pairs(
        slice,
        /"requestId":(\d+)/,
        "REQUESTED",
        (id, ref) => send(partnerKey, `${clients}/${id}/withdrawals`, body(ref, withdrawalAmount), true),
        (id, clientId) => send(partnerKey, `${clients}/${clientId}/withdrawals/${id}/cancel`, "", true)
      )
    case "bulk": {
      let settled = 0
      return {
        next: () => {
          if (at + bulkEntries > itemIds.length) return null
          const items = itemIds
            .slice(at, (at += bulkEntries))
            .map((itemId) => ({ itemId, status: "SETTLED", partnerTxRef: `bank-${itemId}` }))
          return send(partnerKey, "/partner/v1/settlement/report", JSON.stringify({ items }), true)
        },
        onSuccess: (text) => void (settled += Number(/"settled":(\d+)/.exec(text)?.[1])),
        done: () => settled
      }
    }
    case "owe": {
      const owed = JSON.stringify({ currency: "USDC", amount: "0.010000", reason: "benchmark" })
      return {
        next: () =>
          at < itemIds.length
            ? send(operatorKey, `/operator/v1/clients/${clientIds[at++ % clientIds.length]}/ledger/adjust`, owed)
            : null,
        onSuccess: () => {},
        done: () => at
      }
    }
    case "summary":
      return {
        next: () => send(partnerKey, `/partner/v1/settlement/summary${slice.search}`),
        onSuccess: () => void at++,
        done: () => at
      }
  }
}

const run = async (slice: MoneySlice): Promise<MoneyResult> => {
  const traffic = trafficOf(slice)
  let lastText = ""
  const result = await runSlice(
    slice,
    traffic.next,
    (answer) => {
      lastText = answer.text()
      traffic.onSuccess(lastText)
    },
    slice.kind === "bulk" || slice.kind === "owe"
  )
  return { ...result, done: traffic.done(), lastText: lastText.slice(lastText.indexOf("\r\n\r\n") + 4) }
}

answerParent(run)
