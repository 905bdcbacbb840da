/**
 * Notifies clients of losses on their perpetuals, step by step. The risk monitor computes and publishes the notices
 * when marks move. Stale marks cause no notice (A2-89).
 */
import type { AccountRisk } from "../../../machines/margin/accountRisk.ts"
import { lossStep, type NotifiedLoss, lossToNotify } from "../../../machines/margin/lossSteps.ts"
import type { Instance } from "../../effects/Instance.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import type { ClientRow } from "../../tables/client.ts"
import type { LossNoticeRow } from "../../tables/margin.ts"

interface LossInput {
  readonly client: ClientRow
  readonly risk: AccountRisk
  readonly now: number
}

/** The loss notices that are due now for the client's committed positions; empty if none is. */
export const lossesToNotify = (state: SubjectState, { client, risk, now }: LossInput): ReadonlyArray<LossNoticeRow> => {
  const positions = state.all("positions").filter(({ state: standing }) => standing === "OPEN")
  if (positions.length === 0) return []
  const parts = new Map(risk.perps.map((part) => [part.holding.symbol, part]))
  const notices = new Map(state.all("lossNotices").map((row) => [row.symbol, row]))
  return positions.flatMap(({ symbol, netQty, avgEntry, openedAt }) => {
    const part = parts.get(symbol)
    if (part === undefined || !part.markFresh) return []
    const { leverage } = part.holding.terms
    const step = lossStep({ netQty, avgEntry, unrealizedPnl: part.unrealizedPnl, leverage })
    const next: NotifiedLoss | null = lossToNotify(notices.get(symbol) ?? null, { step, openedAt, now })
    return next === null ? [] : [{ clientId: client.id, symbol, partnerId: client.partnerId, ...next }]
  })
}

/** Publishes the notices in the client's feed, and stores the step of each. */
export const notifyLosses = (turn: Turn, of: Instance, losses: ReadonlyArray<LossNoticeRow>): void => {
  for (const loss of losses) {
    turn.draft.put("lossNotices", loss)
    applyEffects(turn, of, [{ type: "notify", kind: "LEVERAGE_LOSS_10", ref: loss.symbol }])
  }
}
