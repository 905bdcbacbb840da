/**
 * Payouts to clients who can't request a withdrawal, because compliance holds or has refused the person. A payout makes
 * the postings of a withdrawal, in one turn and behind the same money-out gate. A payout with a reference of finance is
 * paid once: a repetition returns the first payout, so the command is safe to repeat (A3-43).
 *
 * Under PARTNER custody the partner holds the client's USDC, and the service pays with its own money. It books a MANUAL
 * posting of minus the amount with its settlement item, which the partner owes from then on (decision record 13). The
 * service holds all other currencies itself, and no route lets a partner request them. So they are paid out at any
 * verification level, with the postings of a withdrawal.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { MachineEffect } from "../../../../machines/Effects.ts"
import { type Currency, isCurrency } from "../../../../machines/shared/Currency.ts"
import { formatAmount, parsePositiveAmount } from "../../../../machines/shared/Money.ts"
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
import { moneyOutReasons, moneyOutRefusal } from "../../../../machines/withdrawal/moneyOut.ts"
import { ActorHost, type DispatchError, Unavailable } from "../../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../../engine/mailbox/SubjectState.ts"
import { openExposure } from "../../shared/openWork.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import { balanceOf } from "../../../ledger/Ledger.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { type Booking, bookingOf, type BookingBody, type Movement, recordsOf, shutRefusal } from "./Booking.ts"
import { Breaks } from "../breaks/Breaks.ts"
import { findClient } from "../../account/findClient.ts"
import { clientContext, clientSubject, instanceOf } from "../../account/clientState.ts"
import { closingPartners } from "../../partners/closingPartners.ts"
import { Directory, type PartnerView } from "../../partners/Directory.ts"
import type { OperatorCaller } from "../../shared/OperatorCaller.ts"
import { RowReads } from "../../../ports/RowReads.ts"
import { fileOnce, filedUnder } from "../../shared/fileOnce.ts"
import { type BookedPayout, bookedPayout } from "../../../store/reads/ledgerReads.ts"
import { claimIn, payoutSpace } from "../../../store/references.ts"
import { whenAway } from "../../../store/whenAway.ts"
import { withinTime } from "../../../engine/withinTime.ts"
import { accountIn, accountInTurn, type AccountNow } from "../../account/accountNow.ts"
import { type ClientTurn, freeMoney } from "../withdrawal/withdrawalDecisions.ts"

/** A payout. Its amount must be positive. */
export type PayoutBody = BookingBody
export type Payout = Booking

/** The result of `check`: the client, and the payout when the reference is already paid. */
export interface PayoutCheck {
  readonly clientId: number
  readonly clientUid: string
  readonly paid: Payout | null
}

type Answer<A> = Effect.Effect<Verdict<A>, DispatchError>

export class Payouts extends Context.Service<
  Payouts,
  {
    pay(caller: OperatorCaller, client: string, request: PayoutBody): Answer<Payout>
    /** Dry run of `pay`, before a second person must approve it. */
    check(client: string, request: PayoutBody): Effect.Effect<Verdict<PayoutCheck>, Unavailable>
  }
>()("brokerage/runtime/services/money/ledger/Payouts") {
  static readonly layer = Layer.effect(
    Payouts,
    Effect.gen(function* () {
      const host = yield* ActorHost
      const directory = yield* Directory
      const breaks = yield* Breaks
      const sql = yield* PgClient.PgClient
      const stored = yield* RowReads

      /** Finds the payout behind a reference of the client. */
      const filedBy =
        (client: ClientRow) =>
        (ledgerTxId: number): Effect.Effect<Paid, Unavailable> =>
          Effect.map(
            withinTime(
              Effect.catch(bookedPayout(sql, client.id, ledgerTxId), whenAway),
              () => new Unavailable({ unknown: false })
            ),
            (row) => {
              if (row === undefined) throw new Error(`the payout ${ledgerTxId} is not in the ledger`)
              return { ledgerTxId, row }
            }
          )

      /** Why the client can't be paid now; null when it can. */
      const refusalOf = (
        row: ClientRow,
        state: SubjectState,
        account: AccountNow,
        movement: Movement
      ): Refusal | null => {
        const partner = directory.partner(row.partnerId)
        if (partner === null) return unknown("Client")
        const paused = breaks.pausing({ clientId: row.id, partnerId: row.partnerId })
        return (
          shutRefusal(row, partner, closingPartners(host)) ??
          payoutRefusal({ client: row, partner, account, paused, open: openExposure(state) }, movement)
        )
      }

      const find = (client: string, request: PayoutBody) =>
        Effect.gen(function* () {
          const named = yield* findClient(host, sql, client)
          if (!named.ok) return named
          const found = named.value
          const movement = movementOf(request)
          return typeof movement === "string"
            ? refuse(invalidFields({ amount: movement }))
            : accept({ found, movement })
        })

      return Payouts.of({
        check: (client, request) =>
          Effect.gen(function* () {
            const judged = yield* find(client, request)
            if (!judged.ok) return judged
            const { found, movement } = judged.value
            const paid = yield* filedUnder(stored, claimOf(found, movement), filedBy(found))
            if (paid !== null) {
              const replay = replayOf(found, movement, paid)
              return replay.ok ? accept({ clientId: found.id, clientUid: found.uid, paid: replay.value }) : replay
            }
            return yield* host.read(clientSubject(found.id), (state, facts) => {
              const refusal = refusalOf(state.one("clients") ?? found, state, accountIn(state, facts), movement)
              return refusal === null
                ? accept({ clientId: found.id, clientUid: found.uid, paid: null })
                : refuse(refusal)
            })
          }),
        pay: (caller, client, request) =>
          Effect.gen(function* () {
            const judged = yield* find(client, request)
            if (!judged.ok) return judged
            const { found, movement } = judged.value
            return yield* fileOnce(
              { host, stored },
              {
                subject: clientSubject(found.id),
                by: caller.by,
                partner: () => directory.stamp(found.partnerId),
                claim: claimOf(found, movement),
                read: filedBy(found),
                lookup: "first",
                decide: (turn, paid): Verdict<Payout> => {
                  if (paid !== null) return replayOf(found, movement, paid)
                  const row = turn.state.one("clients")
                  const partner = directory.partner(found.partnerId)
                  if (row === undefined || partner === null) return refuse(unknown("Client"))
                  const of = { turn, client: row, partner }
                  const refusal = refusalOf(row, turn.state, accountInTurn(of.turn, of.client), movement)
                  return refusal === null ? accept(payOut(of, movement)) : refuse(refusal)
                }
              }
            )
          })
      })
    })
  )
}

const movementOf = ({ currency, amount, reason, reference }: PayoutBody): Movement | string => {
  if (!isCurrency(currency)) return "The currency is unknown."
  const minor = parsePositiveAmount(amount, currency)
  if (typeof minor === "string") return minor
  return {
    currency,
    minor,
    reason: cleanText(reason),
    reference: reference === undefined ? null : cleanText(reference)
  }
}

/** The unique fact of the movement's reference; it belongs to the transaction that took the money out. */
const claimOf = ({ id }: ClientRow, { reference }: Movement): string | null =>
  reference === null ? null : claimIn(payoutSpace, id, reference)

const otherPayout = (ledgerTxId: number): Refusal =>
  conflict(
    "BOOKED_ALREADY",
    `This reference is paid already with other content, as transaction ${ledgerTxId}. Nothing was paid now.`,
    {
      ledgerTxId
    }
  )

/** The stored payout that a reference names. */
interface Paid {
  readonly ledgerTxId: number
  readonly row: BookedPayout
}

const isSame = (row: BookedPayout, { currency, minor, reason }: Movement): boolean =>
  row.currency === currency && row.minor === minor && row.reason === reason

/** The payout behind the reference if it equals the requested one; otherwise a refusal. */
const replayOf = (client: ClientRow, movement: Movement, { ledgerTxId, row }: Paid): Verdict<Payout> => {
  if (!isSame(row, movement)) return refuse(otherPayout(ledgerTxId))
  const [cash, reserved] = [BigInt(row.cash), BigInt(row.reserved)]
  return accept(bookingOf(client, movement, { ledgerTxId, cash, reserved, ts: Number(row.ts) }))
}

interface Paying {
  readonly client: ClientRow
  readonly partner: PartnerView
  readonly account: AccountNow
  readonly paused: boolean
  /** Sentences on open objects that tie up the client's money; the refusal lists them. */
  readonly open: ReadonlyArray<string>
}

/** True if the partner has a route to request the currency: collateral is USDC only. */
const canBeRequested = ({ row }: PartnerView, currency: Currency): boolean =>
  row.custodyModel === "BROKER" || currency === "USDC"

/** The refusal of a payout that the partner can request itself, or that the rules of a withdrawal would refuse; else null. */
const payoutRefusal = (
  { client, partner, account, paused, open }: Paying,
  { currency, minor }: Movement
): Refusal | null => {
  if (client.level !== "NONE" && canBeRequested(partner, currency)) {
    return conflict(
      "PARTNER_CAN_ASK",
      `The client is at level ${client.level}, so the partner can ask for the money itself.`
    )
  }
  const { restrictions } = clientContext(client)
  const sentence = moneyOutRefusal({ ...freeMoney(account, currency), restrictions, paused }, minor)
  if (sentence === null) return null
  return conflict(moneyOutReasons[sentence], sentence, open.length === 0 ? null : { blockers: open })
}

const payOut = ({ turn, client, partner }: ClientTurn, movement: Movement): Payout => {
  const { currency, minor, reason, reference } = movement
  const money = (figure: bigint) => formatAmount(figure, currency)
  const before = balanceOf(turn, client.id, client.partnerId, currency)
  const payoutId = turn.nextId("transaction")
  const owed = partner.row.custodyModel === "PARTNER" && currency === "USDC"
  const leg = (entry: "WITHDRAWAL_RESERVE" | "WITHDRAWAL" | "MANUAL", step: string) =>
    ({
      type: "ledger.post",
      entry,
      key: `payout:${payoutId}${step}`,
      currency,
      amount: money(-minor),
      reason,
      refs: { payoutId, ...(reference === null ? {} : { reference }) }
    }) satisfies MachineEffect
  // Transactions are numbered in the order of booking: the seals depend on it.
  if (!owed)
    applyEffects(turn, { ...instanceOf(client, partner), txId: payoutId }, [leg("WITHDRAWAL_RESERVE", ":reserve")])
  const txId = owed ? payoutId : turn.nextId("transaction")
  const claim = claimOf(client, movement)
  if (claim !== null) turn.draft.claim(claim, txId)
  const cash = before.cash - minor
  applyEffects(turn, { ...instanceOf(client, partner), object: `ledgerTransaction:${txId}`, txId }, [
    owed ? leg("MANUAL", "") : leg("WITHDRAWAL", ":out"),
    ...recordsOf("client.payout", txId, movement, { before: before.cash, after: cash })
  ])
  return bookingOf(client, movement, { ledgerTxId: txId, cash, reserved: before.reserved, ts: turn.now })
}
