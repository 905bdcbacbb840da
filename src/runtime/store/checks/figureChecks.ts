/**
 * Checks of `ledger verify` on figures and names that are stored beside the postings: lifetime deposits (F25), the references of
 * money writes (A3-01), the times of settlement items (doc 3, Settlement item), and corrected payouts.
 */
import { currencyCodes } from "../../../machines/shared/Currency.ts"
import { parUnit, unvaluedDeposit } from "../../../machines/verification/depositValue.ts"
import { partnerSpaces } from "../references.ts"
import { referencesHeld } from "./referenceChecks.ts"

/**
 * The value of deposits whose postings record no value (USDC, and postings of older versions), as rows of a VALUES
 * list. `unit`: for each minor unit of a currency at par with USDC. `each`: for each deposit of any other currency.
 */
const values = currencyCodes
  .map((currency) => {
    const unit = parUnit(currency)
    return `('${currency}', ${unit ?? 0n}::numeric, ${unit === null ? unvaluedDeposit : 0n}::numeric)`
  })
  .join(", ")

/** The checks of stored figures and names, which the list in ledgerChecks.ts includes. */
export const figureChecks = [
  {
    name: "every client's lifetime deposits equal the sum of its deposit values",
    figure: "SELECT count(*) AS n FROM balances WHERE deposited <> 0",
    breaks: `WITH sums AS (
               SELECT p.client_id, p.currency, sum(coalesce((t.refs ->> 'valueUsdc')::numeric * 1000000, p.amount * v.unit + v.each)) AS deposited
                 FROM postings p JOIN ledger_transactions t USING (tx_id) JOIN (VALUES ${values}) AS v (currency, unit, each) USING (currency)
                WHERE p.client_id IS NOT NULL AND p.kind = 'cash' AND t.type IN ('DEPOSIT', 'PARTNER_COLLATERAL_IN')
                GROUP BY p.client_id, p.currency)
             SELECT 'client ' || client_id || ' ' || currency || ': lifetime deposits ' || coalesce(b.deposited, 0)
                    || ', postings ' || coalesce(s.deposited, 0) AS what
               FROM balances b FULL JOIN sums s USING (client_id, currency)
              WHERE coalesce(b.deposited, 0) <> coalesce(s.deposited, 0) LIMIT 1`
  },
  referencesHeld(
    "every deposit, withdrawal and collateral report holds its reference, and every reference names its row",
    partnerSpaces
  ),
  {
    name: "every settlement item has the time of its transaction",
    figure: "SELECT count(*) AS n FROM settlement_items",
    breaks: `SELECT 'item ' || i.id || ' occurred at ' || i.occurred_at || ', booked at ' || t.ts AS what
               FROM settlement_items i JOIN ledger_transactions t USING (tx_id)
              WHERE i.occurred_at IS DISTINCT FROM t.ts
                 OR (i.context ->> 'occurredAt')::bigint IS DISTINCT FROM i.occurred_at LIMIT 1`
  },
  {
    // Older payouts under PARTNER custody were booked as if the partner had paid, and are corrected once (decision 13).
    name: "every corrected payout is fully reversed and booked again as a debt of the partner",
    figure: "SELECT count(*) AS n FROM ledger_transactions WHERE key LIKE 'payout:%:owed'",
    breaks: `WITH steps AS MATERIALIZED (
               SELECT t.key, t.type, split_part(t.key, ':', 2) AS payout, split_part(t.key, ':', 3) AS step, t.client_id, p.amount
                 FROM ledger_transactions t JOIN postings p USING (tx_id)
                WHERE t.key LIKE 'payout:%' AND t.type IN ('PARTNER_COLLATERAL_OUT', 'MANUAL') AND p.client_id IS NOT NULL)
             SELECT 'payout ' || payout || ' of client ' || client_id || ' is only partly corrected' AS what
               FROM steps GROUP BY payout, client_id
             HAVING count(*) FILTER (WHERE step <> '') > 0
                AND (count(*) <> 3 OR count(DISTINCT step) <> 3 OR count(DISTINCT abs(amount)) <> 1
                     OR sum(amount) FILTER (WHERE type = 'PARTNER_COLLATERAL_OUT') <> 0
                     OR count(*) FILTER (WHERE step = 'owed' AND type = 'MANUAL' AND amount < 0) <> 1
                     OR count(*) FILTER (WHERE step = 'reversed' AND type = 'PARTNER_COLLATERAL_OUT' AND amount > 0) <> 1)
              LIMIT 1`
  }
] as const
