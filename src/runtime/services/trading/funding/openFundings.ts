/** Stamps of funding that are open (F14), in their client's turn. */
import type { FundingStamp } from "../../../../machines/funding/fundingRules.ts"
import type { TimerName } from "../../../../machines/timerNames.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { rowsInTurn } from "../../../engine/mailbox/turnRows.ts"
import type { OpenFundingRow } from "../../../tables/funding.ts"

/** Of one client. What is left of one that is let go stays with the comparison with the venue (A2-103). */
const openAtMost = 32

export const openFundingsInTurn = (turn: Turn): ReadonlyArray<OpenFundingRow> =>
  rowsInTurn(turn, "openFundings").filter(({ live }) => live)

export const openFundingOf = (
  turn: Turn,
  { symbol, settledAt }: Pick<FundingStamp, "symbol" | "settledAt">
): OpenFundingRow | undefined =>
  openFundingsInTurn(turn).find((row) => row.symbol === symbol && row.settledAt === settledAt)

/**
 * The open stamp that gives way to one more: the oldest of those that are posted, else of those that could be, else of those
 * without a mark. Null: there is room.
 */
export const givesWay = (turn: Turn): OpenFundingRow | null => {
  const open = openFundingsInTurn(turn)
  if (open.length < openAtMost) return null
  const rank = ({ posted, mark }: OpenFundingRow): number => (posted ? 0 : mark === null ? 2 : 1)
  return open.toSorted((one, other) => rank(one) - rank(other) || one.id - other.id)[0] ?? null
}

/** The first word on a stamp that stays open. */
export const openFunding = (turn: Turn, made: Omit<OpenFundingRow, "id" | "createdAt">): OpenFundingRow => {
  const row = { ...made, id: turn.nextId("openFunding"), createdAt: turn.now }
  turn.draft.put("openFundings", row)
  return row
}

/** Nothing can follow of it any more. */
export const closeFunding = (turn: Turn, row: OpenFundingRow): void => {
  turn.draft.put("openFundings", { ...row, live: false })
  turn.draft.clearTimer(turn.state.subject, timerOf(row))
}

const timerOf = ({ id }: Pick<OpenFundingRow, "id">): TimerName => `funding.held:${id}`

/** Looks at a stamp again that is held, whatever becomes of this process. */
export const lookAgain = (turn: Turn, row: OpenFundingRow, after: number): void =>
  turn.draft.put("timers", { subject: turn.state.subject, name: timerOf(row), dueAt: turn.now + after })
