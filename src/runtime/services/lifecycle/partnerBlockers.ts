/**
 * What is open between a partner, its clients and the service, each as a sentence with its figures and what clears it:
 * what stands in the way of another custody model (doc 3, Changing the custody model) and of closing (D15).
 *
 * Two guards go beyond the text of doc 3. Away from BROKER custody a balance in another currency than USDC blocks
 * too: no route of the other model lets the partner ask for it. So does money outstanding between the firms, which the text
 * asks to be paid first: under BROKER custody nothing shows it any more.
 *
 * One guard is read by its purpose. Once clients have gained or lost, the recipe of doc 3 (settle, pay the interfirm
 * balance, report the collateral as withdrawn) leaves the house account at what the firms have paid each other, because a
 * recorded payment posts nothing: it must not, or client cash would no longer be the collateral held plus the net of the
 * items. So the account is held against the recorded payments. By that identity the two are equal exactly when clients'
 * cash is what is outstanding, and so when neither is left.
 */
import { Effect } from "effect"
import { type Currency, isCurrency } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import { withinTime } from "../../engine/withinTime.ts"
import { partnerCustodyAccount } from "../../../machines/ledger/postingRules.ts"
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

/** What BROKER custody pays out as well is no reason to stay under PARTNER custody. */
const countsUsdcAlone = ({ custodyModel }: PartnerRow, purpose: Purpose): boolean =>
  purpose === "custody" && custodyModel === "PARTNER"

/** Cash to be paid out, cash below zero to be made good, reserves to be let go. */
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

/** The house account against what the firms have recorded as paid: positive, the service paid the partner. */
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

/** Money between the firms (doc 3, outstanding). */
const outstanding: Question = (books, partner) =>
  Effect.map(books.outstanding(partner.id), (total) =>
    total === "0"
      ? []
      : [
          `${money(total, "USDC")} are outstanding between the firms (positive: owed to the partner). To clear: interfirm record P --amount ${formatAmount(BigInt(total), "USDC")}.`
        ]
  )

/** Closing needs nothing of the custody account: what the firms paid each other settles it (D15). */
const questions = {
  close: [balances, openWork, outstanding],
  custody: [balances, custodyAccount, openWork, outstanding]
} as const satisfies Readonly<Record<Purpose, ReadonlyArray<Question>>>

/** Everything that stands in the way, whatever came first; empty: nothing does. */
export const partnerBlockers = (
  books: PartnerBooks["Service"],
  partner: PartnerRow,
  purpose: Purpose
): Effect.Effect<ReadonlyArray<string>, Unavailable> =>
  // Bounded: while it counts, the partner's clients wait.
  withinTime(
    Effect.map(
      Effect.forEach(questions[purpose], (ask) => ask(books, partner, purpose)),
      (found) => found.flat()
    ),
    () => new Unavailable({ unknown: false })
  )
