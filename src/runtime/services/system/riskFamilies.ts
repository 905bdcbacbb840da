/** The risk index's own figures (operator surface, metrics): how much it watches, how often marks move it, who waits for a look. */
import type { RiskIndex } from "../margin/RiskIndex.ts"
import { counter, type Family, gauge } from "./prometheus.ts"

export const riskFamilies = ({ size, positions, waiting, counts }: RiskIndex): ReadonlyArray<Family> => [
  gauge("brokerage_risk_accounts", "Accounts with positions on perpetuals that are watched.", [{ value: size }]),
  gauge("brokerage_risk_positions", "Their positions.", [{ value: positions }]),
  gauge("brokerage_risk_due", "Accounts that may have crossed a line and are not judged yet.", [{ value: waiting }]),
  counter("brokerage_risk_shares_total", "Times that the room of an account was shared out.", [
    { value: counts.shares }
  ]),
  counter("brokerage_risk_due_total", "Times that an account may have crossed a line.", [{ value: counts.due }])
]
