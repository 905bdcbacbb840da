/**
 * `venue resolve`: staff end an in-doubt call, a contract that the venue does not know, or an object with a standing
 * misfit, with evidence from the venue. The client's turn decides whether the object may be ended
 * (`rfq/resolveDecisions.ts`, `order/resolveOrder.ts`, `swap/resolveSwap.ts`). A2-116, A2-115, D5.
 */
import { Context, Effect, Layer } from "effect"
import { acceptRef } from "../../../../machines/rfq/Rfq.ts"
import type { Facts } from "../../../../machines/market/Facts.ts"
import { bandOfMarks, outsideBand, type PriceBand } from "../../../../machines/market/PriceBand.ts"
import { parseId } from "../../../../machines/shared/Ids.ts"
import { currencyFacts } from "../../../../machines/shared/Currency.ts"
import { MoneyDecimal } from "../../../../machines/shared/Money.ts"
import {
  accept,
  conflict,
  invalidFields,
  type Refusal,
  refuse,
  unknown,
  type Verdict
} from "../../../../machines/shared/Refusal.ts"
import { ActorHost, type DispatchError, type Turn, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { Venue } from "../../../ports/Venue.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import type { ContractRow } from "../../../tables/contract.ts"
import type { RfqRow } from "../../../tables/rfq.ts"
import type { OrderRow } from "../../../tables/order.ts"
import type { SwapRow } from "../../../tables/swap.ts"
import { clientSubject, instanceOf } from "../../account/clientState.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import { beyondLimit, orderRefusal, resolveOrderExecuted, resolveOrderVoid } from "../../trading/order/resolveOrder.ts"
import { partnerOfTurn } from "../../partners/partnerOfTurn.ts"
import { Directory } from "../../partners/Directory.ts"
import {
  contractRefusal,
  nothingInFlight,
  openCall,
  requestRefusal,
  type ResolvedState,
  resolveClosed,
  resolveExecuted,
  resolveVoid,
  voidReport
} from "../../trading/rfq/resolveDecisions.ts"
import { contractNames } from "../../trading/rfq/contractVerdict.ts"
import { QuoteBoard } from "../../trading/rfq/QuoteBoard.ts"
import { firstRow } from "../../shared/firstRow.ts"
import { resolveTakeExecuted, resolveTakeVoid, takeRefusal } from "../../trading/swap/resolveSwap.ts"
import { Recall } from "../../account/Recall.ts"
import { standingMisfit } from "../../venue/misfits.ts"
import { venueAway } from "../../venue/venueAway.ts"
import { venueHandlers } from "./VenueHandlers.ts"

export type Resolution = "executed" | "void" | "closed"

// A request to resolve an object. A type and not an interface, because it is stored as JSON with its approval.
export type ResolveRequest = {
  /** The object as KIND:ID, as the audit names it. `contract` stands for `barrierContract`. */
  readonly object: string
  readonly as: Resolution
  readonly reason: string
  readonly tradeId?: number
  readonly price?: string
  readonly qty?: string
  /** True: staff confirm a price outside the band of the present marks. */
  readonly outsideBand?: boolean
  /** The ref of the call that was in flight when the command was requested. The command ends no other call. */
  readonly ref?: string
  /**
   * The take, payment or report that the evidence belongs to, fixed by the check (`evidenceOf`). A grant resolves no
   * other one.
   */
  readonly evidenceOf?: string
  /** The uid of the account, for the approver. The check adds it, so a request does not contain it. */
  readonly clientUid?: string
}

export interface Resolved extends ResolvedState {
  readonly object: string
  readonly as: Resolution
}

export class VenueResolutions extends Context.Service<
  VenueResolutions,
  {
    /**
     * Checks a request without changes, before a second person has to approve it. Returns the request with the facts that
     * the approval fixes.
     */
    check(request: ResolveRequest): Effect.Effect<Verdict<ResolveRequest>, Unavailable>
    resolve(caller: OperatorCaller, request: ResolveRequest): Effect.Effect<Verdict<Resolved>, DispatchError>
  }
>()("brokerage/runtime/services/operations/registries/VenueResolutions") {
  static readonly layer = Layer.effect(
    VenueResolutions,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const stored = yield* RowReads
      const directory = yield* Directory
      const handlers = yield* venueHandlers
      const venue = yield* Venue
      const board = yield* QuoteBoard
      const recall = new Recall(stored)

      /** Finds the row of the named object, and checks the evidence against it. */
      const find = (request: ResolveRequest): Effect.Effect<Verdict<Named>, Unavailable> => {
        const named = namedBy(request.object)
        if (!named.ok) return Effect.succeed(named)
        const { table, id } = named.value
        return Effect.map(firstRow(stored, table, [{ column: "id", value: id }]), (row): Verdict<Named> => {
          if (row === null) return refuse(unknown(labels[table]))
          const wrong =
            evidenceErrors(table, request, gridsOf({ table, row } as Named)) ??
            bandError(host.facts(), { table, row } as Named, request)
          return wrong === null ? accept({ table, row } as Named) : refuse(wrong)
        })
      }

      /** Decides on the row as the turn sees it. The row may have changed since it was found, or may have left memory. */
      const inTurn = (turn: Turn, { named, isUnknown }: Located, request: ResolveRequest): Verdict<ResolvedState> => {
        const { table } = named
        const { id } = named.row
        const { reason, as, tradeId = 0, price = "", qty = "", ref = null } = request
        if (table === "rfqs") {
          const row = recall.row(turn, table, id)
          if (row === null) return refuse(unknown("Request"))
          if (isOther(turn.state, { table, row }, request)) return refuse(otherReport)
          const refusal = requestRefusal(turn.state, row, as === "void" ? "void" : "executed", ref)
          if (refusal !== null) return refuse(refusal)
          return as === "void"
            ? resolveVoid(turn, handlers, row, reason)
            : resolveExecuted(turn, handlers, row, { reason, tradeId, price, qty })
        }
        const owner = turn.state.one("clients")
        const partner = owner === undefined ? null : partnerOfTurn(turn, directory, owner)
        if (owner === undefined || partner === null) return refuse(unknown(labels[table]))
        const of = instanceOf(owner, partner)
        if (table === "orders") {
          const row = recall.row(turn, table, id)
          if (row === null) return refuse(unknown("Order"))
          if (isOther(turn.state, { table, row }, request)) return refuse(otherReport)
          const at = { turn, of, recall }
          return as === "void"
            ? resolveOrderVoid(at, handlers, row, reason)
            : resolveOrderExecuted(at, handlers, row, { reason, tradeId, price, qty })
        }
        if (table === "swaps") {
          const row = recall.row(turn, table, id)
          if (row === null) return refuse(unknown("Swap"))
          if (isOther(turn.state, { table, row }, request)) return refuse(otherReport)
          return as === "void"
            ? resolveTakeVoid({ turn, of }, handlers, row, reason)
            : resolveTakeExecuted({ turn, of }, handlers, row, { reason, tradeId, qty })
        }
        const row = recall.row(turn, table, id)
        if (row === null) return refuse(unknown("Contract"))
        if (isOther(turn.state, { table, row }, request)) return refuse(otherReport)
        return as === "void"
          ? voidReport(turn, row, reason)
          : resolveClosed({ turn, board, of }, row, { price, reason, isUnknown })
      }

      /**
       * Finds the object. For an open contract without a standing misfit it also queries the venue, because staff may close
       * such a contract only if the venue does not know it (D5).
       */
      const locate = (request: ResolveRequest): Effect.Effect<Verdict<Located>, Unavailable> =>
        Effect.gen(function* () {
          const found = yield* find(request)
          if (!found.ok) return found
          const named = found.value
          if (named.table !== "barrierContracts" || named.row.state !== "OPEN" || request.as === "void") {
            return accept({ named, isUnknown: false })
          }
          const { row } = named
          const subject = clientSubject(row.clientId)
          const stands = yield* host.read(subject, (state) => contractRefusal(state, row, "closed", false) === null)
          if (stands) return accept({ named, isUnknown: false })
          return yield* Effect.match(venue.lookup([acceptRef(row.rfqId, row.context.quoteId)]), {
            onFailure: venueAway,
            onSuccess: ([reply]): Verdict<Located> => accept({ named, isUnknown: reply?.outcome !== "EXECUTED" })
          })
        })

      return VenueResolutions.of({
        check: (request) =>
          Effect.gen(function* () {
            const found = yield* locate(request)
            if (!found.ok) return found
            const { named, isUnknown } = found.value
            const { table, row } = named
            const bound = { ...request, object: objectOf(named), clientUid: row.context.account }
            const accepted = (state: SubjectState, now: Named) =>
              accept({ ...bound, evidenceOf: evidenceOf(state, now) })
            if (table === "barrierContracts") {
              const as = request.as === "void" ? "void" : "closed"
              return yield* host.read(clientSubject(row.clientId), (state): Verdict<ResolveRequest> => {
                const refusal = contractRefusal(state, row, as, isUnknown)
                return refusal === null ? accepted(state, named) : refuse(refusal)
              })
            }
            if (table === "orders" || table === "swaps") {
              return yield* host.read(clientSubject(row.clientId), (state): Verdict<ResolveRequest> => {
                const refusal = table === "orders" ? orderRefusal(state, row) : takeRefusal(state, row)
                return refusal === null ? accepted(state, named) : refuse(refusal)
              })
            }
            return yield* host.read(clientSubject(row.clientId), (state): Verdict<ResolveRequest> => {
              const now = state.get("rfqs", String(row.id)) ?? row
              const ref = openCall(state, now)
              if (ref === null) return refuse(nothingInFlight)
              const refusal = requestRefusal(state, now, request.as === "void" ? "void" : "executed")
              const evidence = evidenceOf(state, { table, row: now })
              return refusal === null ? accept({ ...bound, ref, evidenceOf: evidence }) : refuse(refusal)
            })
          }),
        resolve: (caller, request) =>
          Effect.gen(function* () {
            const found = yield* locate(request)
            if (!found.ok) return found
            const ended = yield* host.dispatch({
              subject: clientSubject(found.value.named.row.clientId),
              by: caller.by,
              decide: (turn) => inTurn(turn, found.value, request)
            })
            return ended.ok ? accept({ object: objectOf(found.value.named), as: request.as, ...ended.value }) : ended
          })
      })
    })
  )
}

type Named =
  | { readonly table: "rfqs"; readonly row: RfqRow }
  | { readonly table: "barrierContracts"; readonly row: ContractRow }
  | { readonly table: "orders"; readonly row: OrderRow }
  | { readonly table: "swaps"; readonly row: SwapRow }

interface Located {
  readonly named: Named
  /** True if the venue, queried for it, does not know the contract. */
  readonly isUnknown: boolean
}

const tables = {
  rfq: "rfqs",
  barrierContract: "barrierContracts",
  contract: "barrierContracts",
  order: "orders",
  swap: "swaps"
} as const
const labels = { rfqs: "Request", barrierContracts: "Contract", orders: "Order", swaps: "Swap" } as const
const kinds = { rfqs: "rfq", barrierContracts: "barrierContract", orders: "order", swaps: "swap" } as const

const objectOf = ({ table, row }: Named): string => `${kinds[table]}:${row.id}`

/**
 * Names what the evidence belongs to, in words for the approver: the take, the payment or the object, with its standing
 * misfit.
 */
const evidenceOf = (state: SubjectState, named: Named): string => {
  const { table, row } = named
  const misfit = standingMisfit(state, table === "barrierContracts" ? contractNames(row) : [objectOf(named)])
  const kind = table === "swaps" ? (row.context.contractId === null ? "take" : "payment") : kinds[table]
  return misfit === undefined ? kind : `${kind}, misfit ${misfit.id}`
}

const isOther = (state: SubjectState, named: Named, { evidenceOf: bound }: ResolveRequest): boolean =>
  bound !== undefined && bound !== evidenceOf(state, named)

const otherReport = conflict(
  "KNOWN_AT_VENUE",
  "The report that the evidence is of was resolved, or another one stands by now: resolve the object again."
)

/** Finds the object with this name (KIND:ID); refused if there is none or it can't be resolved. */
const namedBy = (
  object: string
): Verdict<{ readonly table: (typeof tables)[keyof typeof tables]; readonly id: number }> => {
  const [kind = "", text = "", ...rest] = object.split(":")
  const id = parseId(text)
  if (!Object.hasOwn(tables, kind) || id === undefined || rest.length > 0) {
    return refuse(invalidFields({ object: "The object must be rfq:ID, order:ID, swap:ID or contract:ID." }))
  }
  return accept({ table: tables[kind as keyof typeof tables], id })
}

/** The decimal places of prices and quantities. A take has no price, and its quantity has the scale of its asset. */
const gridsOf = (named: Named): Grids =>
  named.table === "swaps"
    ? { priceDecimals: 0, qtyDecimals: currencyFacts[named.row.context.asset].scale }
    : named.row.context

interface Grids {
  readonly priceDecimals: number
  readonly qtyDecimals: number
}

/** Checks the evidence that each resolution requires. Superfluous evidence is refused instead of ignored. */
const evidenceErrors = (
  table: Named["table"],
  { as, tradeId, price, qty }: ResolveRequest,
  { priceDecimals, qtyDecimals }: Grids
): Refusal | null => {
  const errors: Record<string, string> = {}
  const isContract = table === "barrierContracts"
  if (isContract ? as === "executed" : as === "closed") {
    errors["as"] = isContract
      ? "A contract is resolved as closed or void."
      : `${subjects[table]} is resolved as executed or void.`
  }
  // The evidence that each resolution takes. A take has no price of its own, because its rate is that of the offer.
  const takes = { tradeId: as === "executed", price: as !== "void" && table !== "swaps", qty: as === "executed" }
  const given = { tradeId, price, qty }
  const names = { tradeId: "trade id", price: "price", qty: "quantity" } as const
  for (const field of ["tradeId", "price", "qty"] as const) {
    if (takes[field] && given[field] === undefined) errors[field] = `The ${names[field]} is required.`
    if (!takes[field] && given[field] !== undefined)
      errors[field] = `The ${names[field]} does not go with ${as}${table === "swaps" ? " of a take" : ""}.`
  }
  if (takes.price && price !== undefined && !isOnGrid(price, priceDecimals)) {
    errors["price"] = `The price must be a positive decimal with at most ${priceDecimals} places.`
  }
  if (takes.qty && qty !== undefined && !isOnGrid(qty, qtyDecimals)) {
    errors["qty"] = `The quantity must be a positive decimal with at most ${qtyDecimals} places.`
  }
  return Object.keys(errors).length === 0 ? null : invalidFields(errors)
}

/**
 * Rejects a price that may be a typing error, unless staff confirm it. Such a price is beyond the order's bound,
 * outside the band of the present marks, or has no marks to be checked against.
 */
const bandError = (facts: Facts, named: Named, request: ResolveRequest): Refusal | null => {
  const { price, qty, outsideBand: isMeant = false } = request
  if (price === undefined || isMeant) return null
  if (named.table === "orders" && qty !== undefined && beyondLimit(named.row, { price, qty }) > 0n) {
    return invalidFields({ price: "The price is beyond the order's bound: --outside-band takes it." })
  }
  const { symbol } = named.row.context
  const band = presentBand(facts, symbol)
  if (band === null) {
    const sentence = `The marks of ${symbol} are unknown, so that nothing checks the price: --outside-band takes it.`
    return invalidFields({ price: sentence })
  }
  return outsideBand(price, band) === null
    ? null
    : invalidFields({ price: "The price is outside the band of the marks of now: --outside-band takes it." })
}

/** The band around the recent marks, or around the present mark if no other is known. Null: the present mark is unknown. */
const presentBand = ({ marks, recent, instruments }: Facts, symbol: string): PriceBand | null => {
  const mark = marks.get(symbol)
  const bandBps = instruments.get(symbol)?.bandBps
  if (mark === undefined || !mark.current || bandBps === undefined) return null
  return recent.bandAt(symbol, mark.at) ?? { ...bandOfMarks(mark.price, mark.price, bandBps), isWhole: true }
}

const subjects = { rfqs: "A request", orders: "An order", swaps: "A take" } as const

const isOnGrid = (text: string, decimals: number): boolean =>
  /^(0|[1-9][0-9]{0,14})(\.[0-9]{1,12})?$/.test(text) &&
  new MoneyDecimal(text).gt(0) &&
  new MoneyDecimal(text).decimalPlaces() <= decimals
