/**
 * Closes a client for good, inside the client's turn: runs the zero check, ends the client's cases, and releases its
 * unique facts. Pure except for the turn's draft (D1; A1-38, A1-47).
 */
import { type Currency, isCurrency } from "../../../machines/shared/Currency.ts"
import { formatAmount } from "../../../machines/shared/Money.ts"
import { accept, conflict, refuse, type Verdict } from "../../../machines/shared/Refusal.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { ClientRow } from "../../tables/client.ts"
import { closeCase, type ClientTurn, moveClient, writeDecision } from "../clients/client/clientDecisions.ts"
import { openInMailbox } from "../shared/openWork.ts"
import { expiryTimers } from "../clients/document/documentExpiry.ts"
import { keepDocumentsUntilDue } from "../clients/document/documentRetention.ts"

/** Facts of the zero check that no mailbox holds. They are valid only if the mailbox has not changed since they were read. */
export interface AccountFacts {
  /** Sentences on open objects outside the mailbox, which are unsettled settlement items. */
  readonly openItems: ReadonlyArray<string>
  /** The claims of the person that no other open client holds. */
  readonly personClaims: ReadonlyArray<string>
}

/** The unique fact of an e-mail address, in the form that onboarding claims. */
const emailClaim = (email: string): string => `email:${email}`

/** Sentences on money and open objects that block the end of a client. */
export const accountBlockers = (
  state: SubjectState,
  { openItems }: Pick<AccountFacts, "openItems">
): ReadonlyArray<string> => [
  ...state.all("balances").flatMap(({ currency, cash, reserved }) => {
    const money = (minor: bigint) =>
      isCurrency(currency) ? `${formatAmount(minor, currency as Currency)} ${currency}` : `${minor} ${currency}`
    return [
      ...(cash === 0n ? [] : [`The client's cash is ${money(cash)}.`]),
      ...(reserved === 0n ? [] : [`The client's reserve is ${money(reserved)}.`])
    ]
  }),
  ...openInMailbox(state),
  ...openItems
]

/** Closes the client from any other state: its cases end and its e-mail address becomes free. Its reference stays taken. */
export const closeClient = (
  at: ClientTurn,
  client: ClientRow,
  reason: string,
  facts: AccountFacts
): Verdict<ClientRow> => {
  const { turn } = at
  if (client.state === "CLOSED") return refuse(conflict("ALREADY", "The account is closed already."))
  const blockers = accountBlockers(turn.state, facts)
  const next = moveClient(at, client, { type: "CLOSE", at: turn.now, reason, blockers })
  if (next === null) return refuse(conflict("BLOCKED", "The account can't be closed yet.", { blockers }))
  for (const open of turn.state.all("cases")) {
    // Compliance made no finding on the candidates of the case, so no finding is stored.
    closeCase(at, open, { type: "REJECT", at: turn.now, by: at.by, note: `account closed: ${reason}` })
  }
  turn.draft.release(emailClaim(client.email))
  // The claims of a person refused for good stay, so that the next onboarding of the same person goes to review.
  if (client.state !== "KYC_REJECTED") for (const name of facts.personClaims) turn.draft.release(name)
  // A closed account gets no notice of its documents' expiry.
  applyEffects(
    turn,
    at.instance,
    Object.values(expiryTimers).map((name) => ({ type: "timer.clear", name }))
  )
  keepDocumentsUntilDue(turn)
  writeDecision(at, client, "CLOSED", reason)
  return accept(next)
}
