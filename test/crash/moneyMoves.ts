/**
 * Every money transition as one call with its expected result: a prepared client, the call, and the balance and number
 * of postings after exactly one execution (doc 3, States and transitions; D9, D10; A3-21, A3-25, A3-43).
 */
import { Clock, Effect, Schema } from "effect"
import type { PartnerAnswer, PartnerCall, PartnerClient } from "../../simulator/partner/PartnerClient.ts"
import { clientsPath, planOnboarding } from "../../simulator/partner/PartnerRequest.ts"
import { makeTally, sendUntilAcknowledged } from "../../simulator/partner/sendUntilAcknowledged.ts"
import type { CrashWorld } from "./CrashWorld.ts"

export const moveNames = [
  "deposit filed",
  "deposit confirmed",
  "deposit rejected",
  "withdrawal requested",
  "withdrawal cancelled",
  "withdrawal rejected",
  "withdrawal approved",
  "withdrawal paid",
  "withdrawal failed",
  "client paid out",
  "interfirm recorded",
  "items reported"
] as const
export type MoveName = (typeof moveNames)[number]

export interface Move {
  readonly name: MoveName
  readonly client: PartnerClient
  readonly call: PartnerCall
  /** The client whose books show the transition, and the HTTP client that may read them. */
  readonly clientId: number
  readonly reader: PartnerClient
  /** Cash, reserve and number of postings before and after. Equal if the transition moves no money. */
  readonly before: Books
  readonly after: Books
  /** The path that lists the object, and the state that the object must have there. */
  readonly object: { readonly path: string; readonly is: (row: Row) => boolean; readonly status: string } | null
}

export type Row = Readonly<Record<string, unknown>>
export type Books = readonly [cash: string, reserved: string, postings: number]

const zero: Books = ["0.000000", "0.000000", 0]
const funded: Books = ["10.000000", "0.000000", 1]
const reserved: Books = ["6.000000", "4.000000", 3]
const returned: Books = ["10.000000", "0.000000", 5]
const gone: Books = ["6.000000", "0.000000", 4]

const Data = Schema.fromJsonString(Schema.Struct({ data: Schema.Record(Schema.String, Schema.Unknown) }))

export const dataOf = ({ body }: PartnerAnswer): Row => Schema.decodeUnknownSync(Data)(body.toString()).data

export interface MoneyDesk {
  /** Prepares a client and returns the call. */
  readonly ready: (name: MoveName) => Effect.Effect<Move>
  /** Sends the call until it has a final answer. */
  readonly send: (client: PartnerClient, call: PartnerCall) => Effect.Effect<PartnerAnswer>
}

const post = (path: string, body?: object, idempotencyKey?: string): PartnerCall => ({
  method: "POST",
  path,
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  ...(idempotencyKey === undefined ? {} : { idempotencyKey })
})
const order = (path: string, body?: object): PartnerCall => post(`/operator/v1${path}`, body)

export const makeMoneyDesk = Effect.fnUntraced(function* (world: CrashWorld): Effect.fn.Return<MoneyDesk> {
  const broker = yield* world.brokerPartner("MONEY")
  const { operator, random } = world
  let count = 0
  const send = (client: PartnerClient, call: PartnerCall) => sendUntilAcknowledged(client, call, random, makeTally())
  const done = Effect.fnUntraced(function* (client: PartnerClient, call: PartnerCall): Effect.fn.Return<Row> {
    const answer = yield* send(client, call)
    if (answer.status > 299) return yield* Effect.die(new Error(`${call.path}: ${answer.body.toString()}`))
    return dataOf(answer)
  })
  const onboarded = Effect.fnUntraced(function* (client: PartnerClient): Effect.fn.Return<number> {
    const { path, body, idempotencyKey } = planOnboarding("desk", count, count++, yield* Clock.currentTimeMillis)
    return Number((yield* done(client, post(path, JSON.parse(body) as object, idempotencyKey)))["clientId"])
  })
  const keyed = (path: string, body: object): PartnerCall => {
    const partnerRef = `money-${++count}`
    return post(path, { partnerRef, ...body }, partnerRef)
  }
  const deposit = (clientId: number) => keyed(`${clientsPath}/${clientId}/deposits`, { currency: "USDC", amount: "10" })
  const withdrawal = (clientId: number) =>
    keyed(`${clientsPath}/${clientId}/withdrawals`, { currency: "USDC", amount: "4", destination: { iban: "X" } })

  const ofBroker = Effect.fnUntraced(function* (name: MoveName): Effect.fn.Return<Move> {
    const clientId = yield* onboarded(broker)
    const move = (call: PartnerCall, before: Books, after: Books, object: Move["object"]): Move => ({
      name,
      client: call.path.startsWith("/operator/") ? operator : broker,
      call,
      clientId,
      reader: broker,
      before,
      after,
      object
    })
    const own = (kind: "deposits" | "withdrawals", status: string) => ({
      path: `${clientsPath}/${clientId}/${kind}`,
      is: () => true,
      status
    })
    if (name === "deposit filed") return move(deposit(clientId), zero, zero, own("deposits", "PENDING"))
    const notice = `/deposits/${String((yield* done(broker, deposit(clientId)))["noticeId"])}`
    if (name === "deposit confirmed")
      return move(order(`${notice}/confirm`, {}), zero, funded, own("deposits", "CONFIRMED"))
    if (name === "deposit rejected")
      return move(order(`${notice}/reject`, { reason: "r" }), zero, zero, own("deposits", "REJECTED"))
    yield* done(operator, order(`${notice}/confirm`, {}))
    if (name === "client paid out") {
      // Only a client that can't request a withdrawal is paid out.
      yield* done(operator, order(`/clients/${clientId}/kyc/reject`, { reason: "r" }))
      const body = { currency: "USDC", amount: "4", reason: "r" }
      return move(order(`/clients/${clientId}/payout`, body), funded, ["6.000000", "0.000000", 4], null)
    }
    if (name === "withdrawal requested")
      return move(withdrawal(clientId), funded, reserved, own("withdrawals", "REQUESTED"))
    const requestId = String((yield* done(broker, withdrawal(clientId)))["requestId"])
    const request = `/withdrawals/${requestId}`
    if (name === "withdrawal cancelled") {
      const call = post(`${clientsPath}/${clientId}${request}/cancel`, undefined, `money-${++count}`)
      return move(call, reserved, returned, own("withdrawals", "CANCELLED"))
    }
    if (name === "withdrawal rejected")
      return move(order(`${request}/reject`, { reason: "r" }), reserved, returned, own("withdrawals", "REJECTED"))
    if (name === "withdrawal approved")
      return move(order(`${request}/approve`), reserved, gone, own("withdrawals", "APPROVED"))
    yield* done(operator, order(`${request}/approve`))
    return name === "withdrawal paid"
      ? move(order(`${request}/pay`), gone, gone, own("withdrawals", "PAID"))
      : move(
          order(`${request}/fail`, { reason: "r" }),
          gone,
          ["10.000000", "0.000000", 5],
          own("withdrawals", "REJECTED")
        )
  })

  /** Two items of each of three clients, reported in one call, so that several mailboxes must commit. */
  const reportItems = Effect.fnUntraced(function* (): Effect.fn.Return<Move> {
    const transactions = new Set<unknown>()
    let clientId = 0
    for (let n = 0; n < 3; n++) {
      clientId = yield* onboarded(world.client)
      for (const amount of ["3", "-1"]) {
        const made = yield* done(
          operator,
          order(`/clients/${clientId}/ledger/adjust`, { currency: "USDC", amount, reason: "r" })
        )
        transactions.add(made["ledgerTxId"])
      }
    }
    const path = "/partner/v1/settlement/items"
    const { items } = yield* done(world.client, { method: "GET", path: `${path}?limit=500` })
    const own = (items as ReadonlyArray<Row>).filter(({ ledgerTxId }) => transactions.has(ledgerTxId))
    const ids = new Set(own.map(({ itemId }) => itemId))
    if (ids.size !== 6) return yield* Effect.die(new Error(`${ids.size} items were made`))
    const entries = [...ids].map((itemId) => ({ itemId, status: "SETTLED", partnerTxRef: `bank-${String(itemId)}` }))
    const books: Books = ["2.000000", "0.000000", 2]
    return {
      name: "items reported",
      client: world.client,
      call: post("/partner/v1/settlement/report", { items: entries }, `money-${++count}`),
      clientId,
      reader: world.client,
      before: books,
      after: books,
      object: { path: `${path}?limit=500`, is: ({ itemId }) => ids.has(itemId), status: "SETTLED" }
    }
  })

  const recordInterfirm = Effect.fnUntraced(function* (): Effect.fn.Return<Move> {
    const clientId = yield* onboarded(world.client)
    const txRef = `wire-${++count}`
    const body = { amount: "5", periodFrom: 1, periodTo: 2, txRef }
    return {
      name: "interfirm recorded",
      client: operator,
      call: order("/partners/CRASH/interfirm", body),
      clientId,
      reader: world.client,
      before: zero,
      after: zero,
      object: { path: "/partner/v1/settlement/interfirm?limit=500", is: (row) => row["txRef"] === txRef, status: "" }
    }
  })

  return {
    send,
    ready: (name) =>
      name === "items reported" ? reportItems() : name === "interfirm recorded" ? recordInterfirm() : ofBroker(name)
  }
})
