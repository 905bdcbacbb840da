/** Builds the risk index's view of an account from its committed rows (A2-89). */
import { usdcMinor } from "../../../machines/shared/Money.ts"
import type { SubjectState } from "../../engine/mailbox/SubjectState.ts"
import { recordedIn } from "../account/accountNow.ts"
import { chosenIn } from "../account/perpHoldings.ts"
import { contractsIn } from "../trading/contract/contractDecisions.ts"
import { usdcBalance } from "../account/clientState.ts"
import type { WatchedAccount, WatchedPosition } from "./RiskIndex.ts"

const dayMillis = 86_400_000

/** The UTC day of a time, in days since 1970. Loss notices count for one day. */
export const dayOf = (now: number): number => Math.floor(now / dayMillis)

/** The facts of an account and its open positions that the risk index needs; null if the client does not exist. */
export const watchedIn = (state: SubjectState, day: number): WatchedAccount | null => {
  const client = state.one("clients")
  if (client === undefined) return null
  const positions = positionsIn(state, day)
  return {
    clientId: client.id,
    categorization: client.categorization,
    cash: usdcBalance(state)?.cash ?? 0n,
    premiums: positions.length === 0 ? 0n : premiumsIn(state),
    recorded: recordedIn(state),
    positions
  }
}

const premiumsIn = (state: SubjectState): bigint => {
  let sum = 0n
  for (const { context } of contractsIn(state)) sum += usdcMinor(context.premium)
  return sum
}

const positionsIn = (state: SubjectState, day: number): ReadonlyArray<WatchedPosition> => {
  const open = state.all("positions").filter((row) => row.state === "OPEN")
  if (open.length === 0) return []
  const chosen = chosenIn(state)
  const notices = new Map(state.all("lossNotices").map((row) => [row.symbol, row]))
  return open.map(({ symbol, netQty, avgEntry, openedAt }) => {
    const last = notices.get(symbol)
    const counts = last !== undefined && last.day === day && last.openedAt === openedAt
    return { symbol, netQty, avgEntry, chosen: chosen.get(symbol) ?? null, notified: counts ? last.step : 0 }
  })
}
