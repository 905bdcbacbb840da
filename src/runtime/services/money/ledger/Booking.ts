/**
 * Manual bookings of finance on a client's cash, corrections and payouts: their request, reply and records (A2-62,
 * A3-43).
 */
import type { MachineEffect } from "../../../../machines/Effects.ts"
import type { Currency } from "../../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../../machines/shared/Money.ts"
import { conflict, type Refusal } from "../../../../machines/shared/Refusal.ts"
import type { ClientRow } from "../../../tables/client.ts"
import type { PartnerView } from "../../partners/Directory.ts"

export type BookingBody = {
  readonly currency: string
  /** Decimal string in the currency's scale. */
  readonly amount: string
  readonly reason: string
  /** The operator's own reference, 1 to 64 characters; it is booked once per client. */
  readonly reference?: string
}

export interface Booking {
  readonly ledgerTxId: number
  readonly clientId: number
  readonly clientUid: string
  readonly currency: Currency
  readonly amount: string
  readonly reason: string
  readonly reference: string | null
  /** The balance right after the booking. */
  readonly balance: { readonly cash: string; readonly reserved: string; readonly total: string }
  readonly ts: number
}

/** A booking whose request has been checked. */
export interface Movement {
  readonly currency: Currency
  /** Minor units. */
  readonly minor: bigint
  readonly reason: string
  readonly reference: string | null
}

/** The result of a booking; the balance of the currency in minor units. */
export interface Booked {
  readonly ledgerTxId: number
  readonly cash: bigint
  readonly reserved: bigint
  readonly ts: number
}

export const bookingOf = (
  { id, uid }: Pick<ClientRow, "id" | "uid">,
  { currency, minor, reason, reference }: Movement,
  { ledgerTxId, cash, reserved, ts }: Booked
): Booking => {
  const money = (figure: bigint) => formatAmount(figure, currency)
  return {
    ledgerTxId,
    clientId: id,
    clientUid: uid,
    currency,
    amount: money(minor),
    reason,
    reference,
    balance: { cash: money(cash), reserved: money(reserved), total: money(cash + reserved) },
    ts
  }
}

/** The client's notice and the audit row of the booking; cash in minor units. */
export const recordsOf = (
  action: "ledger.adjust" | "client.payout",
  txId: number,
  { currency, reason }: Pick<Movement, "currency" | "reason">,
  cash: { readonly before: bigint; readonly after: bigint }
): ReadonlyArray<MachineEffect> => {
  const money = (figure: bigint) => `${formatAmount(figure, currency)} ${currency}`
  return [
    { type: "notify", kind: "MONEY_MOVEMENT", ref: String(txId) },
    { type: "audit", action, before: money(cash.before), after: money(cash.after), reason }
  ]
}

/** The refusal of a booking if the account or the partner is closed, or the partner is being closed (D15); null otherwise. */
export const shutRefusal = (
  client: ClientRow,
  partner: PartnerView | null,
  closing: ReadonlySet<number>
): Refusal | null => {
  if (client.state === "CLOSED") return conflict("ACCOUNT_CLOSED", "The account is closed.")
  if (partner?.row.state === "CLOSED") return conflict("PARTNER_CLOSED", "The partner is closed.")
  return closing.has(client.partnerId) ? conflict("PARTNER_CLOSED", "The partner is being closed.") : null
}
