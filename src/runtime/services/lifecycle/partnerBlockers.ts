/**
 * Open matters between a partner, its clients and the service, each as a sentence with its figures and its remedy. They
 * block a change of the custody model (doc 3, Changing the custody model) and closing (D15).
 *
 * Two guards go beyond the text of doc 3. A balance in another currency than USDC also blocks leaving BROKER custody,
 * because under the other model no route lets the partner withdraw it. Money outstanding between the firms blocks it
 * too, because under BROKER custody no report shows such money any more.
 *
 * One guard follows the purpose of its rule instead of its words. The procedure of doc 3 is: settle, pay the interfirm
 * balance, report the collateral as withdrawn. After gains or losses of clients it leaves the house account at the sum
 * of the firms' payments, because a recorded payment posts nothing. It must not post: otherwise client cash would no
 * longer equal the collateral held plus the net of the items. So this guard compares the account with the recorded
 * payments. By that identity the two are equal exactly if the clients' cash equals the outstanding amount, and
 * therefore if both are zero.
 */
import { Effect } from "effect"
import { type Currency, isCurrency } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { withinTime } from "../../engine/withinTime.ts"
import { partnerCustodyAccount } from "../../../machines/postingRules.ts"
import type { PartnerBooks } from "../../ports/PartnerBooks.ts"
import { type HeldGroup, namedIds } from "../../store/reads/partnerReads.ts"
import type { PartnerRow } from "../../tables/partner.ts"

type Read = Effect.Effect<ReadonlyArray<string>, Unavailable>
type Question = (books: PartnerBooks["Service"], partner: PartnerRow, purpose: Purpose) => Read

type Purpose = "close" | "custody"

const money = (total: string, currency: string): string =>
  `${isCurrency(currency) ? formatAmount(BigInt(total), currency as Currency) : total} ${currency}`

const which = (what: string, { n, ids }: Pick<HeldGroup, "n" | "ids">): string =>
  `${what} ${ids}${n > BigInt(namedIds) ? ", …" : ""}`

const payOut = ({ custodyModel }: PartnerRow, currency: string): string =>
  custodyModel === "BROKER"
    ? "POST /clients/{clientId}/withdrawals, or client payout C for who can't ask"
    : currency === "USDC"
      ? "POST /clients/{clientId}/collateral with direction WITHDRAWAL, or client payout C for who can't ask"
      : "client payout C"

/**
 * True if only USDC counts. Leaving PARTNER custody is not blocked by other currencies, because BROKER custody can pay
 * them out too.
 */
const countsUsdcAlone = ({ custodyModel }: PartnerRow, purpose: Purpose): boolean =>
  purpose === "custody" && custodyModel === "PARTNER"

/** Client balances: cash to pay out, negative cash to cover, reserves to release. */
const balances: Question = (books, partner, purpose) =>
  Effect.map(books.held(partner.id, countsUsdcAlone(partner, purpose)), (found) =>
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

/**
 * A difference between the house account and the recorded payments of the firms. A positive payment is one by the
 * service to the partner.
 */
const custodyAccount: Question = (books, partner) =>
  Effect.map(books.custodyAccount(partner.id), ({ account, paid }) =>
    account === paid
      ? []
      : [
          `House account ${partnerCustodyAccount(partner.id)} is at ${money(account, "USDC")}, recorded payments between the firms are at ${money(paid, "USDC")}: they have to be equal. To clear: ${partner.custodyModel === "PARTNER" ? withdrawAll : ""}interfirm record P for what is outstanding between the firms.`
        ]
  )

const openWork: Question = (books, partner) =>
  Effect.map(books.open(partner.id), (groups) =>
    groups.map(
      (group) =>
        `${group.open.ofPartner}: ${group.n} ${group.state}, ${money(group.total, group.currency)} (${which(group.open.one, group)}). To clear: ${group.open.clear(group.state)}.`
    )
  )

/** Money that one firm owes the other (doc 3, outstanding). */
const outstanding: Question = (books, partner) =>
  Effect.map(books.outstanding(partner.id), (total) =>
    total === "0"
      ? []
      : [
          `${money(total, "USDC")} are outstanding between the firms (positive: owed to the partner). To clear: interfirm record P --amount ${formatAmount(BigInt(total), "USDC")}.`
        ]
  )

/** Closing ignores the custody account: the firms' payments settle it (D15). */
const questions = {
  close: [balances, openWork, outstanding],
  custody: [balances, custodyAccount, openWork, outstanding]
} as const satisfies Readonly<Record<Purpose, ReadonlyArray<Question>>>

/** The sentences on all open matters that block the purpose; empty if none does. */
export const partnerBlockers = (
  books: PartnerBooks["Service"],
  partner: PartnerRow,
  purpose: Purpose
): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
  // The read is limited in time, because the partner's clients wait for it.
  withinTime(
    Effect.map(
      Effect.forEach(questions[purpose], (question) => question(books, partner, purpose)),
      (found) => found.flat()
    ),
    () => new Unavailable({ unknown: false })
  )
