/**
 * All items that wait for staff, oldest first. They come from the system's approvals, from the open cases and breaks
 * in memory, and from tables with an index of their open rows.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { type Waiting, type WaitingKind, waitingKinds } from "../../../../machines/operator/Waiting.ts"
import { isCurrency } from "../../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { ownerOfRef } from "../../../../machines/venue/venueRefs.ts"
import { BusinessClock } from "../../../engine/clock/BusinessClock.ts"
import { ActorHost, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { withinTime } from "../../../engine/withinTime.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import {
  type PendingObjects,
  deliveriesCounted,
  waitingRows,
  type WaitingRow
} from "../../../store/reads/waitingReads.ts"
import { type ClientOwner, ownersOf } from "../../../store/reads/clientReads.ts"
import type { ApprovalRow } from "../../../tables/operator.ts"
import type { ReconBreakRow } from "../../../tables/reconciliation.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { Directory } from "../../partners/Directory.ts"
import { Breaks } from "../../money/breaks/Breaks.ts"
import { systemSubject } from "../../shared/OperatorCaller.ts"
import { type OpenCase, openCases } from "./openCases.ts"

/** The age from which a venue call without a reply counts as in doubt (A2-116). */
const doubtAfterMillis = 60_000

export interface QueueQuery {
  /** Limit on the items of all kinds together. */
  readonly limit: number
  readonly kind?: WaitingKind
}

/** `requestedBy`: the operator key that requested an approval; it can't grant it. */
export type WaitingItem = Waiting & { readonly requestedBy: number | null; readonly guards: string | null }

export interface Queue {
  readonly asOf: number
  readonly waiting: ReadonlyArray<WaitingItem>
  /** Counts of each kind that has items, including kinds that `kind` filters out. */
  readonly counts: ReadonlyArray<{ readonly kind: WaitingKind; readonly count: number; readonly oldestAt: number }>
  readonly hasMore: boolean
}

type Draft = Omit<WaitingItem, "partner"> & { readonly partnerId: number | null }

export class WaitingQueue extends Context.Service<
  WaitingQueue,
  { read(query: QueueQuery): Effect.Effect<Queue, Unavailable> }
>()("brokerage/runtime/services/operations/operator/WaitingQueue") {
  static readonly layer = Layer.effect(
    WaitingQueue,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const sql = yield* PgClient.PgClient
      const clock = yield* BusinessClock
      const directory = yield* Directory
      const reconBreaks = yield* Breaks
      const cases = yield* Effect.orDie(openCases(host, yield* RowReads))
      const inTime = <A>(query: Effect.Effect<A, unknown>): Effect.Effect<A, Unavailable> =>
        withinTime(Effect.catch(query, whenAway), () => new Unavailable({ unknown: false }))
      const codeOf = (partnerId: number | null): string | null =>
        partnerId === null ? null : (directory.partner(partnerId)?.row.code ?? null)

      return WaitingQueue.of({
        read: ({ limit, kind }) =>
          Effect.gen(function* () {
            const asOf = clock.now()
            const approvals = yield* host.read(systemSubject, (state) =>
              state.all("approvals").filter(({ state }) => state === "PENDING")
            )
            const pending = pendingObjects(approvals)
            const standing = reconBreaks.standing()
            const breaks = standing.filter(({ id }) => !pending.breaks.has(id))
            const stored = yield* inTime(waitingRows(sql, limit, asOf - doubtAfterMillis, pending))
            const whole = [
              ...approvals.map((row) => ofApproval(row, standing)),
              ...breaks.map(ofBreak),
              ...[...cases()].map(ofCase)
            ]
            const rows = stored.map((row) => ofRow(row, codeOf(numberOf(row.partner_id))))
            const drafts = [...whole, ...rows]
              .filter((each) => kind === undefined || each.kind === kind)
              .toSorted((one, other) => one.since - other.since || one.id.localeCompare(other.id))
            const shown = drafts.slice(0, limit)
            const clients = shown.flatMap(({ clientId }) => (clientId === null ? [] : [clientId]))
            const uids = shown.flatMap(({ clientUid }) => (clientUid === null ? [] : [clientUid]))
            const owners = yield* inTime(ownersOf(sql, [...new Set(clients)], [...new Set(uids)]))
            const counts = countsOf(whole, stored).filter((each) => kind === undefined || each.kind === kind)
            return {
              asOf,
              waiting: shown.map(({ partnerId, ...item }) => {
                const client = ownerIn(owners, item)
                return {
                  ...item,
                  partner: codeOf(partnerId ?? client?.partnerId ?? null),
                  clientId: client?.id ?? item.clientId,
                  clientUid: client?.uid ?? item.clientUid
                }
              }),
              counts,
              hasMore: counts.reduce((sum, { count }) => sum + count, 0) > shown.length
            }
          })
      })
    })
  )
}

const numberOf = (value: bigint | null): number | null => (value === null ? null : Number(value))

const countsOf = (whole: ReadonlyArray<Draft>, stored: ReadonlyArray<WaitingRow>): Queue["counts"] =>
  waitingKinds.flatMap((kind) => {
    const held = whole.filter((each) => each.kind === kind)
    const rows = stored.filter((row) => row.kind === kind)
    const count = held.length + Number(rows[0]?.n ?? 0)
    if (count === 0) return []
    return [
      { kind, count, oldestAt: Math.min(...held.map(({ since }) => since), ...rows.map(({ since }) => Number(since))) }
    ]
  })

const none = {
  partnerId: null,
  clientId: null,
  clientUid: null,
  currency: null,
  amount: null,
  about: null,
  requestedBy: null,
  guards: null
}

const ownerIn = (
  owners: ReadonlyArray<ClientOwner>,
  { clientId, clientUid }: Pick<Draft, "clientId" | "clientUid">
): ClientOwner | undefined => owners.find(({ id, uid }) => (clientId === null ? uid === clientUid : id === clientId))

/**
 * The queue item of an approval. Its owner comes from its arguments, which name partners and clients by id, or from the
 * break that it would close.
 */
const ofApproval = (row: ApprovalRow, breaks: ReadonlyArray<ReconBreakRow>): Draft => {
  const { id, state, command, args, requestedBy, requestedAt } = row
  const { amount, currency, asset, client, clientUid, partner, breakId } = args as { readonly [name: string]: unknown }
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null)
  const idIn = (value: unknown): number | null =>
    typeof value === "string" && /^[0-9]{1,15}$/.test(value) ? Number(value) : null
  const closed = breaks.find((each) => each.id === breakId)
  return {
    ...none,
    partnerId: idIn(partner) ?? closed?.partnerId ?? null,
    clientUid: text(clientUid),
    kind: "approval",
    id: String(id),
    since: requestedAt,
    state,
    clientId: idIn(client) ?? closed?.clientId ?? null,
    currency: text(currency) ?? text(asset),
    amount: text(amount),
    about: command,
    requestedBy,
    guards: command,
    command: "approval grant",
    decide: [`approval grant ${id}`, `approval refuse ${id}`]
  }
}

/**
 * Objects with a pending approval. The queue shows the approval instead of the object, because staff can't decide by
 * requesting it again.
 */
const pendingObjects = (
  approvals: ReadonlyArray<ApprovalRow>
): PendingObjects & { readonly breaks: ReadonlySet<number> } => {
  const pending = { withdrawals: new Array<number>(), swaps: new Array<number>(), calls: new Array<string>() }
  const breaks = new Set<number>()
  for (const { command, args } of approvals) {
    const { requestId, swapId, breakId, ref } = args as { readonly [name: string]: unknown }
    if (command.startsWith("withdrawal ") && typeof requestId === "number") pending.withdrawals.push(requestId)
    if (command === "swap writeoff" && typeof swapId === "number") pending.swaps.push(swapId)
    if (command === "break close" && typeof breakId === "number") breaks.add(breakId)
    if (command === "venue resolve" && typeof ref === "string") pending.calls.push(ref)
  }
  return { ...pending, breaks }
}

const ofBreak = ({ id, state, partnerId, clientId, currency, context, openedAt }: ReconBreakRow): Draft => ({
  ...none,
  kind: "break",
  id: String(id),
  since: openedAt,
  state,
  partnerId,
  clientId,
  currency,
  amount: context.amount,
  about: context.reason,
  command: "break close",
  decide: [`break close ${id} --reason R`]
})

const ofCase = ({ id, partnerId, clientId, reason, openedAt }: OpenCase): Draft => ({
  ...none,
  kind: "case",
  id: String(id),
  since: openedAt,
  state: "OPEN",
  partnerId,
  clientId,
  about: reason,
  command: "kyc clear",
  decide: [`kyc clear ${clientId}`, `kyc reject ${clientId} --reason R`, `case show ${id}`]
})

/** The queue item of a stored row. `partner`: the code of its partner. */
const ofRow = (row: WaitingRow, partner: string | null): Draft => {
  const { id, state, currency, amount } = row
  return {
    ...none,
    id,
    state,
    since: Number(row.since),
    partnerId: numberOf(row.partner_id),
    clientId: numberOf(row.client_id),
    currency,
    amount: amount === null || !isCurrency(currency) ? null : formatAmount(amount, currency),
    about: row.about,
    ...deciding(row, partner)
  }
}

type Deciding = Pick<Draft, "kind" | "command" | "decide"> & { readonly about?: string }

/** The commands that decide each kind of row. */
const deciding = ({ kind, id, state, about, client_id }: WaitingRow, partner: string | null): Deciding => {
  switch (kind) {
    case "deposit":
      return { kind, command: "deposit confirm", decide: [`deposit confirm ${id}`, `deposit reject ${id} --reason R`] }
    case "withdrawal":
      return state === "REQUESTED"
        ? {
            kind,
            command: "withdrawal approve",
            decide: [`withdrawal approve ${id}`, `withdrawal reject ${id} --reason R`]
          }
        : { kind, command: "withdrawal pay", decide: [`withdrawal pay ${id}`, `withdrawal fail ${id} --reason R`] }
    case "default":
      return {
        kind,
        command: "swap writeoff",
        decide: [`swap writeoff ${id} --amount D --reason R`, `swap show ${id}`]
      }
    case "call":
      return { kind, command: "venue resolve", ...ofCall(id, about) }
    case "leg":
      return { kind, command: "order cancel", decide: [`order cancel ${id} --reason R`, `order show ${id}`] }
    case "quarantine":
      return { kind, command: "quarantine drop", decide: [`venue quarantine drop ${id}`] }
    case "statement":
      return { kind, command: "statement jobs", decide: ["statement jobs", `statement list ${client_id}`] }
    case "reliance":
      return { kind, command: "partner reliance", decide: [`partner reliance ${partner} APPROVED --reason R`] }
    case "delivery":
      return {
        kind,
        about: failedOf(about),
        command: "webhook redeliver",
        decide: [`webhook redeliver ${id}`, `webhook deliveries ${partner} --status FAILED`]
      }
    default:
      throw new Error(`nobody knows what waits as ${kind}`)
  }
}

const ofCall = (ref: string, call: string | null): Pick<Deciding, "decide" | "about"> => {
  const owner = ownerOfRef(ref)
  const object = owner === null ? ref : `${owner.owner}:${owner.id}`
  return {
    about: `${call} of ${object}`,
    decide: [`venue resolve ${object} --as void --reason R`, `audit tail --object ${object}`]
  }
}

const failedOf = (n: string | null): string => {
  const count = Number(n ?? 0)
  return count >= deliveriesCounted ? `${deliveriesCounted} or more failed` : `${count} failed`
}
