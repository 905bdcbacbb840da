/**
 * Payments between the firms, recorded by finance. A record never changes, and a wrong one is corrected by another of
 * the opposite sign. A partner and transaction reference has one record: the same record again returns the first, so
 * the command is safe to repeat (A3-25).
 */
import { Context, Effect, Layer } from "effect"
import type { InterfirmRecord } from "../../../../machines/settlement/SettlementFigures.ts"
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
import type { PartnerRow } from "../../../tables/partner.ts"
import type { InterfirmRow } from "../../../tables/settlement.ts"
import { signedAmount } from "../ledger/Adjustments.ts"
import { closingPartners } from "../../partners/closingPartners.ts"
import { Directory } from "../../partners/Directory.ts"
import { wireInterfirm } from "./interfirmWire.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { fileOnce, filedUnder, rowFiled } from "../../shared/fileOnce.ts"
import { claimIn, interfirmSpace } from "../../../store/references.ts"

export type InterfirmBody = {
  /** Signed decimal string of USDC, not zero; positive: the service paid the partner. */
  readonly amount: string
  /** The period that the payment settles, Unix ms, both ends inclusive. */
  readonly periodFrom: number
  readonly periodTo: number
  /** The payment's own reference, 1 to 128 characters. */
  readonly txRef: string
  readonly note?: string
}

/** The facts of a payment whose request has been checked. */
type Payment = Pick<InterfirmRow, "amount" | "periodFrom" | "periodTo" | "txRef" | "note">

/** The result of `check`: the partner, and the record when it exists already. */
export interface InterfirmCheck {
  readonly partnerId: number
  readonly recorded: InterfirmRecord | null
}

export class Interfirm extends Context.Service<
  Interfirm,
  {
    record(
      caller: OperatorCaller,
      partner: string,
      request: InterfirmBody
    ): Effect.Effect<Verdict<InterfirmRecord>, DispatchError>
    /** Checks a record without writing it, before a second person must approve it. */
    check(partner: string, request: InterfirmBody): Effect.Effect<Verdict<InterfirmCheck>, Unavailable>
  }
>()("brokerage/runtime/services/money/settlement/Interfirm") {
  static readonly layer = Layer.effect(
    Interfirm,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const stored = yield* RowReads

      const recordOf = rowFiled(stored, "interfirmRecords")

      /** True if the firms can owe each other: PARTNER custody now or in the past. */
      const everUnderPartner = ({ id, custodyModel }: PartnerRow): Effect.Effect<boolean, Unavailable> =>
        Effect.gen(function* () {
          if (custodyModel === "PARTNER") return true
          for (const table of ["custodyChanges", "settlementItems"] as const) {
            const rows = yield* stored.page(table, [{ column: "partner_id", value: id }], { limit: 1 })
            if (rows.length > 0) return true
          }
          return false
        })

      const find = (partner: string, request: InterfirmBody) => {
        const view = directory.findPartner(partner)
        if (view === null) return refuse(unknown("Partner"))
        const payment = paymentOf(request)
        return payment.ok ? accept({ row: view.row, payment: payment.value }) : payment
      }

      return Interfirm.of({
        check: (partner, request) =>
          Effect.gen(function* () {
            const found = find(partner, request)
            if (!found.ok) return found
            const { row, payment } = found.value
            const recorded = yield* filedUnder(stored, claimOf(row.id, payment), recordOf)
            // The same record again returns the first one, even if a refusal would apply by now.
            if (recorded !== null) {
              const replay = replayOf(recorded, payment)
              return replay.ok ? accept({ partnerId: row.id, recorded: replay.value }) : replay
            }
            const shut = shutRefusal(row, closingPartners(host))
            if (shut !== null) return refuse(shut)
            if (!(yield* everUnderPartner(row))) return refuse(nothingBetween)
            return accept({ partnerId: row.id, recorded: null })
          }),
        record: (caller, partner, request) =>
          Effect.gen(function* () {
            const found = find(partner, request)
            if (!found.ok) return found
            const { payment, row: partnerRow } = found.value
            const partnerId = partnerRow.id
            // A partner who could owe once can always owe, so a result that was read before the turn also holds in
            // the turn.
            const canOwe = yield* everUnderPartner(partnerRow)
            return yield* fileOnce(
              { host, stored },
              {
                subject: `partner:${partnerId}`,
                by: caller.by,
                claim: claimOf(partnerId, payment),
                read: recordOf,
                lookup: "first",
                decide: (turn, recorded): Verdict<InterfirmRecord> => {
                  if (recorded !== null) return replayOf(recorded, payment)
                  const row = turn.state.one("partners")
                  if (row === undefined) return refuse(unknown("Partner"))
                  const shut = shutRefusal(row, closingPartners(host))
                  if (shut !== null) return refuse(shut)
                  return canOwe ? accept(wireInterfirm(putRecord(turn, partnerId, payment))) : refuse(nothingBetween)
                }
              }
            )
          })
      })
    })
  )
}

const claimOf = (partnerId: number, { txRef }: Payment): string => claimIn(interfirmSpace, partnerId, txRef)

const otherRecord = (settlementId: number): Refusal =>
  conflict("BOOKED_ALREADY", `This reference is recorded already with other content, as settlement ${settlementId}.`, {
    settlementId
  })

const isSame = (row: InterfirmRow, { amount, periodFrom, periodTo, note }: Payment): boolean =>
  row.amount === amount && row.periodFrom === periodFrom && row.periodTo === periodTo && row.note === note

/** The record behind the reference if it equals the requested one; otherwise a refusal. */
const replayOf = (row: InterfirmRow, payment: Payment): Verdict<InterfirmRecord> =>
  isSame(row, payment) ? accept(wireInterfirm(row)) : refuse(otherRecord(row.id))

const nothingBetween = conflict(
  "NEVER_PARTNER_CUSTODY",
  "This partner has never been under PARTNER custody, so the firms owe each other nothing."
)

/**
 * The refusal for a partner that is closed or being closed, because its balance has been counted (D15); null
 * otherwise.
 */
const shutRefusal = ({ id, state }: PartnerRow, closing: ReadonlySet<number>): Refusal | null => {
  if (state === "CLOSED") return conflict("PARTNER_CLOSED", "The partner is closed.")
  return closing.has(id) ? conflict("PARTNER_CLOSED", "The partner is being closed.") : null
}

const paymentOf = ({ periodFrom, periodTo, ...request }: InterfirmBody): Verdict<Payment> => {
  const parsed = signedAmount({ currency: "USDC", amount: request.amount })
  const errors = {
    ...(typeof parsed === "string" ? { amount: parsed } : {}),
    ...(periodFrom > periodTo ? { periodFrom: "The period must not end before it starts." } : {})
  }
  if (typeof parsed === "string" || Object.keys(errors).length > 0) return refuse(invalidFields(errors))
  const note = cleanText(request.note ?? "")
  return accept({
    amount: parsed.amount,
    periodFrom,
    periodTo,
    txRef: cleanText(request.txRef),
    note: note === "" ? null : note
  })
}

const putRecord = (turn: Turn, partnerId: number, payment: Payment): InterfirmRow => {
  const id = turn.nextId("interfirm")
  const row: InterfirmRow = {
    id,
    partnerId,
    currency: "USDC",
    ...payment,
    recordedBy: turn.by.role,
    recordedAt: turn.now
  }
  turn.draft.claim(claimOf(partnerId, payment), id)
  turn.draft.put("interfirmRecords", row)
  const { amount, direction } = wireInterfirm(row)
  applyEffects(turn, { partnerId, clientId: null, object: `interfirmRecord:${id}` }, [
    { type: "audit", action: "interfirm.record", before: null, after: `${amount} USDC ${direction}`, reason: null }
  ])
  return row
}
