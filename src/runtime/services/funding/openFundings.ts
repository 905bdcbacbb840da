/** Stamps of funding that are open (F14), in their client's turn. */
import type { FundingStamp } from "../../../machines/funding/fundingRules.ts"
import type { TimerName } from "../../../machines/timerNames.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { rowsInTurn } from "../../engine/mailbox/turnRows.ts"
import type { OpenFundingRow } from "../../store/tables/funding.ts"

/** Of one client; the oldest is let go for one more. What is left of it stays with the comparison with the venue (A2-103). */
const openAtMost = 32

export const openFundingsInTurn = (turn: Turn): ReadonlyArray<OpenFundingRow> =>
  rowsInTurn(turn, "openFundings").filter(({ live }) => live)

export const openFundingOf = (
  turn: Turn,
  { symbol, settledAt }: Pick<FundingStamp, "symbol" | "settledAt">
): OpenFundingRow | undefined =>
  openFundingsInTurn(turn).find((row) => row.symbol === symbol && row.settledAt === settledAt)

/** The first word on a stamp that stays open. */
export const openFunding = (turn: Turn, made: Omit<OpenFundingRow, "id" | "createdAt">): OpenFundingRow => {
  const open = openFundingsInTurn(turn)
  const oldest = open.toSorted((one, other) => one.id - other.id)[0]
  if (open.length >= openAtMost && oldest !== undefined) closeFunding(turn, oldest)
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
