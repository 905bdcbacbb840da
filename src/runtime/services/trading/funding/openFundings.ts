/** Open funding stamps in their client's turn (A2-103, F14). */
import type { FundingStamp } from "../../../../machines/funding/fundingRules.ts"
import type { TimerName } from "../../../../machines/timerNames.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { rowsInTurn } from "../../../engine/mailbox/turnRows.ts"
import type { OpenFundingRow } from "../../../tables/funding.ts"

/**
 * Limit on the open stamps of a client. If a further stamp closes one early, the comparison with the venue finds any
 * difference.
 */
const openAtMost = 32

export const openFundingsInTurn = (turn: Turn): ReadonlyArray<OpenFundingRow> =>
  rowsInTurn(turn, "openFundings").filter(({ live }) => live)

export const openFundingOf = (
  turn: Turn,
  { symbol, settledAt }: Pick<FundingStamp, "symbol" | "settledAt">
): OpenFundingRow | undefined =>
  openFundingsInTurn(turn).find((row) => row.symbol === symbol && row.settledAt === settledAt)

/**
 * The open stamp that is closed early if a new stamp needs its place: the oldest posted stamp, else the oldest stamp
 * with a mark, else the oldest stamp. Null if a place is free.
 */
export const givesWay = (turn: Turn): OpenFundingRow | null => {
  const open = openFundingsInTurn(turn)
  if (open.length < openAtMost) return null
  const rank = ({ posted, mark }: OpenFundingRow): number => (posted ? 0 : mark === null ? 2 : 1)
  return open.toSorted((one, other) => rank(one) - rank(other) || one.id - other.id)[0] ?? null
}

/** Stores a new open stamp under the next id, and returns its row. */
export const openFunding = (turn: Turn, made: Omit<OpenFundingRow, "id" | "createdAt">): OpenFundingRow => {
  const row = { ...made, id: turn.nextId("openFunding"), createdAt: turn.now }
  turn.draft.put("openFundings", row)
  return row
}

/** Closes an open stamp and clears the timer of its next check. */
export const closeFunding = (turn: Turn, row: OpenFundingRow): void => {
  turn.draft.put("openFundings", { ...row, live: false })
  turn.draft.clearTimer(turn.state.subject, timerOf(row))
}

const timerOf = ({ id }: Pick<OpenFundingRow, "id">): TimerName => `funding.held:${id}`

/** Sets the durable timer that checks an open stamp again after `after` ms. */
export const checkLater = (turn: Turn, row: OpenFundingRow, after: number): void =>
  turn.draft.put("timers", { subject: turn.state.subject, name: timerOf(row), dueAt: turn.now + after })
