/**
 * Stores the leverage that a client chooses in a market, in its turn. A choice is one row. From its commit it applies to all
 * positions and orders of the client in the market. The end of the turn judges the account's risk (doc 2, Leverage view; A2-50,
 * A2-102).
 */
import { leverageCap, leverageInForce } from "../../../../machines/margin/accountRisk.ts"
import type { Facts } from "../../../../machines/market/Facts.ts"
import type { LeverageBody } from "../../../../machines/order/LeverageBody.ts"
import { changeRefusal, overCap } from "../../../../machines/order/leverageChange.ts"
import type { LeverageWire } from "../../../../machines/order/OrderWire.ts"
import { accept, refuse, type Verdict } from "../../../../machines/shared/Refusal.ts"
import type { Instance } from "../../../effects/Instance.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import type { ClientRow } from "../../../tables/client.ts"
import { accountInTurn } from "../../account/accountNow.ts"
import { type Chosen, chosenInTurn, leverageTermsOf } from "../../account/perpHoldings.ts"
import { clientContext } from "../../account/clientState.ts"

export interface LeverageTurn {
  readonly turn: Turn
  readonly of: Instance
}

type Market = Pick<Facts, "instruments" | "terms">

/** The partners' view of a client's leverage in a market. */
export const leverageView = (
  symbol: string,
  client: Pick<ClientRow, "categorization">,
  chosen: Chosen,
  facts: Market
): LeverageWire => {
  const terms = leverageTermsOf(symbol, client, facts)
  const choice = chosen.get(symbol) ?? null
  return {
    symbol,
    leverage: leverageInForce({ ...terms, chosen: choice }),
    cap: leverageCap(terms),
    categorization: client.categorization,
    chosen: choice
  }
}

/** Stores a choice if it differs from the stored one. */
export const chooseLeverage = (
  at: LeverageTurn,
  client: ClientRow,
  { symbol, leverage, force }: LeverageBody
): Verdict<LeverageWire> => {
  const { turn } = at
  const chosen = chosenInTurn(turn)
  const { cap } = leverageView(symbol, client, chosen, turn.facts)
  const over = overCap({ leverage, cap })
  if (over !== null) return refuse(over)
  const wanted = new Map(chosen).set(symbol, leverage)
  if (chosen.get(symbol) !== leverage) {
    const { risk: before, recorded } = accountInTurn(turn, client, chosen)
    const refusal = changeRefusal({
      restrictions: clientContext(client).restrictions,
      recorded,
      before,
      after: accountInTurn(turn, client, wanted).risk,
      force
    })
    if (refusal !== null) return refuse(refusal)
    putChoice(at, client, { symbol, before: chosen.get(symbol) ?? null, leverage, reason: force ? "forced" : null })
  }
  return accept(leverageView(symbol, client, wanted, turn.facts))
}

/** The choices under another categorization: each choice above its cap is lowered to the cap. */
export const cappedChoices = (client: Pick<ClientRow, "categorization">, chosen: Chosen, facts: Market): Chosen =>
  new Map(
    [...chosen].map(([symbol, leverage]) => [
      symbol,
      Math.min(leverage, leverageCap(leverageTermsOf(symbol, client, facts)))
    ])
  )

/** Stores those of the given choices that differ from the turn's choices. */
export const putChoices = (at: LeverageTurn, client: ClientRow, choices: Chosen, reason: string): void => {
  const chosen = chosenInTurn(at.turn)
  for (const [symbol, leverage] of choices) {
    const before = chosen.get(symbol) ?? null
    if (before !== leverage) putChoice(at, client, { symbol, before, leverage, reason })
  }
}

interface Choice {
  readonly symbol: string
  /** Null: the client had made no choice, so the cap was in force. */
  readonly before: number | null
  readonly leverage: number
  readonly reason: string | null
}

const putChoice = (
  { turn, of }: LeverageTurn,
  { id: clientId, partnerId }: ClientRow,
  { symbol, before, leverage, reason }: Choice
): void => {
  turn.draft.put("leverages", { clientId, symbol, partnerId, leverage, updatedAt: turn.now })
  applyEffects(turn, { ...of, object: `client:${clientId}` }, [
    {
      type: "audit",
      action: "leverage.choose",
      before: before === null ? null : `${symbol} ${before}`,
      after: `${symbol} ${leverage}`,
      reason
    }
  ])
}
