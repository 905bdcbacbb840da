/**
 * What is open between a partner, its clients and the service, each as a sentence with its figures and what clears it:
 * what stands in the way of another custody model (document 3, Changing the custody model) and of closing (D15).
 *
 * Two guards go beyond the text of document 3. Away from BROKER custody a balance in another currency than USDC blocks
 * too: no route of the other model lets the partner ask for it. So does money outstanding between the firms, which the text
 * asks to be paid first: under BROKER custody nothing shows it any more.
 *
 * One guard is read by its purpose. Once clients have gained or lost, the recipe of document 3 (settle, pay the interfirm
 * balance, report the collateral as withdrawn) leaves the house account at what the firms have paid each other, because a
 * recorded payment posts nothing: it must not, or client cash would no longer be the collateral held plus the net of the
 * items. So the account is held against the recorded payments. By that identity the two are equal exactly when clients'
 * cash is what is outstanding, and so when neither is left.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { type Currency, isCurrency } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { withinTime } from "../../engine/withinTime.ts"
import { partnerCustodyAccount } from "../../ledger/postingRules.ts"
import type { PartnerRow } from "../../store/Rows.ts"
import { whenAway } from "../../store/whenAway.ts"
import { openOfPartner } from "../../store/openRows.ts"

type Read = Effect.Effect<ReadonlyArray<string>, SqlError.SqlError>
type Question = (sql: PgClient.PgClient, partner: PartnerRow, purpose: Purpose) => Read

type Purpose = "close" | "custody"

/** Ids named in a sentence; the rest is counted. */
const namedIds = 5

interface Group {
  readonly n: bigint
  /** Sums of many 64-bit amounts may leave 64 bits, so they come as text. */
  readonly total: string
  readonly currency: string
  readonly ids: string
}

const money = (total: string, currency: string): string =>
  `${isCurrency(currency) ? formatAmount(BigInt(total), currency as Currency) : total} ${currency}`

const which = (what: string, { n, ids }: Pick<Group, "n" | "ids">): string =>
  `${what} ${ids}${n > BigInt(namedIds) ? ", …" : ""}`
const firstIds = (column: string): string =>
  `array_to_string((array_agg(${column} ORDER BY ${column}))[1:${namedIds}], ', ') AS ids`

const grouped = <Extra extends object = object>(
  sql: PgClient.PgClient,
  partner: PartnerRow,
  text: string
): Effect.Effect<ReadonlyArray<Group & Extra>, SqlError.SqlError> =>
  sql.unsafe<Group & Extra>(text, [BigInt(partner.id)])

const payOut = ({ custodyModel }: PartnerRow, currency: string): string =>
  custodyModel === "BROKER"
    ? "POST /clients/{clientId}/withdrawals, or client payout C for who can't ask"
    : currency === "USDC"
      ? "POST /clients/{clientId}/collateral with direction WITHDRAWAL, or client payout C for who can't ask"
      : "client payout C"

/** What BROKER custody pays out as well is no reason to stay under PARTNER custody. */
const countedBalances = ({ custodyModel }: PartnerRow, purpose: Purpose): string =>
  purpose === "custody" && custodyModel === "PARTNER" ? " AND b.currency = 'USDC'" : ""

/** Cash to be paid out, cash below zero to be made good, reserves to be let go. */
const balances: Question = (sql, partner, purpose) =>
  Effect.map(
    grouped<{ readonly kind: "cash" | "reserved" }>(
      sql,
      partner,
      `SELECT b.currency, k.kind, count(*) AS n, sum(k.amount)::text AS total, ${firstIds("b.client_id")}
         FROM balances b CROSS JOIN LATERAL (VALUES ('cash', b.cash), ('reserved', b.reserved)) AS k (kind, amount)
        WHERE b.partner_id = $1 AND k.amount <> 0${countedBalances(partner, purpose)}
        GROUP BY b.currency, k.kind, sign(k.amount) ORDER BY (b.currency <> 'USDC'), b.currency, k.kind, sign(k.amount)`
    ),
    (found) =>
      found.map((group) => {
        const { kind, total, currency } = group
        const clear =
          kind === "reserved"
            ? "withdrawal reject ID, or withdrawal approve ID"
            : total.startsWith("-")
              ? "ledger adjust C"
              : payOut(partner, currency)
        return `Clients hold ${money(total, currency)} of ${kind === "cash" ? "cash" : "reserve"} (${which("client", group)}). To clear: ${clear}.`
      })
  )

const withdrawAll = "POST /clients/{clientId}/collateral with direction WITHDRAWAL until clients hold nothing, and "

/** The house account against what the firms have recorded as paid: positive, the service paid the partner. */
const custodyAccount: Question = (sql, partner) =>
  Effect.map(
    // House accounts have no index of their own: their postings are found through what their reports booked.
    sql.unsafe<{ readonly account: string; readonly paid: string }>(
      `SELECT (-coalesce(sum(amount), 0))::text AS account,
              (SELECT coalesce(sum(amount), 0)::text FROM interfirm_records WHERE partner_id = $1) AS paid
         FROM posting_totals
        WHERE partner_id = $1 AND currency = 'USDC' AND type IN ('PARTNER_COLLATERAL_IN', 'PARTNER_COLLATERAL_OUT')`,
      [BigInt(partner.id)]
    ),
    ([row]) =>
      row === undefined || row.account === row.paid
        ? []
        : [
            `House account ${partnerCustodyAccount(partner.id)} is at ${money(row.account, "USDC")}, recorded payments between the firms are at ${money(row.paid, "USDC")}: they have to be equal. To clear: ${partner.custodyModel === "PARTNER" ? withdrawAll : ""}interfirm record P for what is outstanding between the firms.`
          ]
  )

/** Whatever somebody still has to act on, in every table that has such work. */
const openWork: Question = (sql, partner) =>
  Effect.map(openOfPartner(sql, partner.id, namedIds), (groups) =>
    groups.map(
      (group) =>
        `${group.open.ofPartner}: ${group.n} ${group.state}, ${money(group.total, group.currency)} (${which(group.open.one, group)}). To clear: ${group.open.clear(group.state)}.`
    )
  )

/** Net of every item ever, settled or not, less what the firms have paid each other (document 3, outstanding). */
const outstanding: Question = (sql, partner) =>
  Effect.map(
    sql.unsafe<{ readonly total: string }>(
      `SELECT ((SELECT coalesce(sum(credits - debits), 0) FROM settlement_totals WHERE partner_id = $1)
             - (SELECT coalesce(sum(amount), 0) FROM interfirm_records WHERE partner_id = $1))::text AS total`,
      [BigInt(partner.id)]
    ),
    ([row]) =>
      row === undefined || row.total === "0"
        ? []
        : [
            `${money(row.total, "USDC")} are outstanding between the firms (positive: owed to the partner). To clear: interfirm record P --amount ${formatAmount(BigInt(row.total), "USDC")}.`
          ]
  )

/** Closing needs nothing of the custody account: what the firms paid each other settles it (D15). */
const questions = {
  close: [balances, openWork, outstanding],
  custody: [balances, custodyAccount, openWork, outstanding]
} as const satisfies Readonly<Record<Purpose, ReadonlyArray<Question>>>

/** Everything that stands in the way, whatever came first; empty: nothing does. */
export const partnerBlockers = (
  sql: PgClient.PgClient,
  partner: PartnerRow,
  purpose: Purpose
): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
  // Bounded: while it counts, the partner's clients wait.
  withinTime(
    Effect.forEach(questions[purpose], (ask) => ask(sql, partner, purpose)).pipe(
      Effect.map((found) => found.flat()),
      Effect.catch(whenAway)
    ),
    () => new Unavailable({ unknown: false })
  )
