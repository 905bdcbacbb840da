/**
 * Manual ledger postings by finance: the only way to correct a wrong posting, since postings never change. A
 * correction never takes cash below zero (A2-62, A3-13, A3-43, F10).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { type Currency, isCurrency } from "../../../../machines/shared/Currency.ts"
import { formatAmount, parseAmount } from "../../../../machines/shared/Money.ts"
import {
  accept,
  conflict,
  invalidFields,
  refuse,
  type Refusal,
  unknown,
  type Verdict
} from "../../../../machines/shared/Refusal.ts"
import { cleanText } from "../../../../machines/shared/Text.ts"
import { ActorHost, type DispatchError, type Turn, type Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { balanceOf, cashAtMost, fitsBalance } from "../../../ledger/Ledger.ts"
import { type Booking, bookingOf, type BookingBody, recordsOf, shutRefusal } from "./Booking.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { findClient } from "../../account/findClient.ts"
import { clientSubject, instanceOf } from "../../account/clientState.ts"
import { closingPartners } from "../../partners/closingPartners.ts"
import { Directory, type PartnerView } from "../../partners/Directory.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { fileOnce, filedUnder } from "../../shared/fileOnce.ts"
import { claimIn, correctionSpace } from "../../../store/references.ts"

/** A correction. Its amount has an optional sign and is not zero. */
export type AdjustmentBody = BookingBody
export type Adjustment = Booking

/** The account that an adjustment would be booked on. */
export interface AdjustmentCheck {
  readonly clientId: number
  readonly clientUid: string
}

export class Adjustments extends Context.Service<
  Adjustments,
  {
    adjust(
      caller: OperatorCaller,
      client: string,
      request: AdjustmentBody
    ): Effect.Effect<Verdict<Adjustment>, DispatchError>
    /** Dry run of `adjust`, before a second person must approve it. */
    check(client: string, request: AdjustmentBody): Effect.Effect<Verdict<AdjustmentCheck>, Unavailable>
  }
>()("brokerage/runtime/services/money/ledger/Adjustments") {
  static readonly layer = Layer.effect(
    Adjustments,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const sql = yield* PgClient.PgClient
      const stored = yield* RowReads

      return Adjustments.of({
        check: (client, request) =>
          Effect.gen(function* () {
            const named = yield* findClient(host, sql, client)
            if (!named.ok) return named
            const found = named.value
            const parsed = signedAmount(request)
            if (typeof parsed === "string") return refuse(invalidFields({ amount: parsed }))
            const booked = yield* filedUnder(stored, claimOf(found.id, referenceOf(request)), Effect.succeed)
            if (booked !== null) return refuse(alreadyBooked(booked))
            const shut = shutRefusal(found, directory.partner(found.partnerId), closingPartners(host))
            return shut === null ? accept({ clientId: found.id, clientUid: found.uid }) : refuse(shut)
          }),
        adjust: (caller, client, request) =>
          Effect.flatMap(findClient(host, sql, client), (named) => {
            if (!named.ok) return Effect.succeed(named)
            const found = named.value
            const parsed = signedAmount(request)
            if (typeof parsed === "string") return Effect.succeed(refuse(invalidFields({ amount: parsed })))
            const reference = referenceOf(request)
            return fileOnce(
              { host, stored },
              {
                subject: clientSubject(found.id),
                by: caller.by,
                partner: () => directory.stamp(found.partnerId),
                claim: claimOf(found.id, reference),
                // The claim holds the id of the ledger transaction: the refusal needs only this id, no row.
                read: Effect.succeed<number>,
                lookup: "late",
                decide: (turn, booked): Verdict<Adjustment> => {
                  if (booked !== null) return refuse(alreadyBooked(booked))
                  const row = turn.state.one("clients")
                  const partner = directory.partner(found.partnerId)
                  if (row === undefined || partner === null) return refuse(unknown("Client"))
                  const shut = shutRefusal(row, partner, closingPartners(host))
                  if (shut !== null) return refuse(shut)
                  return bookAdjustment(turn, row, partner, { ...parsed, reason: cleanText(request.reason), reference })
                }
              }
            )
          })
      })
    })
  )
}

/** The unique fact and the ledger key of a correction with a reference, so that one reference is never booked twice. */
const claimOf = (clientId: number, reference: string | null): string | null =>
  reference === null ? null : claimIn(correctionSpace, clientId, reference)

const referenceOf = ({ reference }: AdjustmentBody): string | null =>
  reference === undefined ? null : cleanText(reference)

const alreadyBooked = (ledgerTxId: number): Refusal =>
  conflict(
    "BOOKED_ALREADY",
    `This reference is booked already, as transaction ${ledgerTxId}. Nothing was booked now.`,
    { ledgerTxId }
  )

interface Signed {
  readonly currency: Currency
  /** Minor units of the currency; negative if the correction takes money from the client. */
  readonly amount: bigint
}

/** The amount grammar (F2) behind an optional sign. */
const signedGrammar = /^[+-]?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/
const notSignedDecimal =
  "The amount must be a plain decimal number such as 12.50 or -12.50, without exponent, grouping or spaces."

/** The amount with its sign, or the sentence that refuses it. */
export const signedAmount = ({ currency, amount }: Pick<AdjustmentBody, "currency" | "amount">): Signed | string => {
  if (!isCurrency(currency)) return "The currency is unknown."
  const text = amount.trim()
  if (!signedGrammar.test(text)) return notSignedDecimal
  const minor = parseAmount(text.replace(/^[+-]/, ""), currency)
  if (typeof minor === "string") return minor
  if (minor === 0n) return "The amount must not be zero."
  return { currency, amount: text.startsWith("-") ? -minor : minor }
}

/** Books a correction on the client's cash, with its notice and audit row. */
export const bookAdjustment = (
  turn: Turn,
  row: ClientRow,
  partner: PartnerView,
  { currency, amount, reason, reference }: Signed & Pick<Adjustment, "reason" | "reference">
): Verdict<Adjustment> => {
  const before = balanceOf(turn, row.id, row.partnerId, currency)
  if (!fitsBalance(amount > 0n ? cashAtMost(turn.state, before) : before.cash, amount)) {
    return refuse(invalidFields({ amount: "The amount is too large for the balance it leads to." }))
  }
  // Without open positions, negative-balance protection would write the shortfall off at once (F10).
  if (amount < 0n && before.cash + amount < 0n) {
    return refuse(conflict("BELOW_ZERO", "The adjustment would take the client's balance below zero."))
  }
  const txId = turn.nextId("transaction")
  const claim = claimOf(row.id, reference)
  if (claim !== null) turn.draft.claim(claim, txId)
  const { reserved } = before
  const cash = before.cash + amount
  applyEffects(turn, { ...instanceOf(row, partner), object: `ledgerTransaction:${txId}`, txId }, [
    {
      type: "ledger.post",
      entry: "MANUAL",
      key: claim ?? `manual:${txId}`,
      currency,
      amount: formatAmount(amount, currency),
      reason,
      refs: { adjustmentId: txId, ...(reference === null ? {} : { reference }) }
    },
    ...recordsOf("ledger.adjust", txId, { currency, reason }, { before: before.cash, after: cash })
  ])
  const movement = { currency, minor: amount, reason, reference }
  return accept(bookingOf(row, movement, { ledgerTxId: txId, cash, reserved, ts: turn.now }))
}
