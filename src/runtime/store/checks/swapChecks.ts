/**
 * Checks of `ledger verify` on staking swaps (F22; D8, STS-2, STS-6): each take is reserved and paid once, each payment and each
 * correction is booked once, the service's share comes only from the reward, and the figures add up. Amounts are minor units.
 */

/** SQL that converts an amount with all places of its asset to minor units. */
const minor = (text: string): string => `replace(${text}, '.', '')::numeric`
const estimated = minor("context ->> 'estimatedFee'")
const notional = minor("context ->> 'notional'")

/**
 * The money that takes without an answer hold, by client and currency. It is a part of the reserve (withdrawalChecks.ts).
 */
export const heldBySwaps = `SELECT client_id, currency, sum(${notional} + ${estimated}) AS amount
    FROM swaps WHERE state = 'ACCEPTING' GROUP BY client_id, currency`

/**
 * The postings that must exist according to the swaps: one for each take and one for each payment, with its currency and the
 * amount on the client's side.
 */
const due = `due AS MATERIALIZED (
  SELECT 'swapPrincipal:' || id AS key, 'SWAP_PRINCIPAL' AS type, client_id, currency, -(${notional} + ${estimated}) AS amount
    FROM swaps WHERE contract_id IS NOT NULL
   UNION ALL
  SELECT 'swapSettle:' || s.id || ':' || (p ->> 'id'), 'SWAP_SETTLE', s.client_id, s.currency, ${minor("p ->> 'amount'")}
    FROM swaps s, json_array_elements(s.context -> 'payments') p WHERE ${minor("p ->> 'amount'")} <> 0)`

const booked = `booked AS MATERIALIZED (
  SELECT t.key, t.type, p.client_id, p.currency, p.amount
    FROM ledger_transactions t JOIN postings p USING (tx_id)
   WHERE p.client_id IS NOT NULL AND t.type IN ('SWAP_PRINCIPAL', 'SWAP_SETTLE'))`

/** SQL of the swap id in a ledger key: its second part, in the key of a commission its third. */
const swapOfKey = "split_part(t.key, ':', CASE WHEN t.type = 'COMMISSION' THEN 3 ELSE 2 END)"

const received = "least(reward, greatest(0, paid - amount))"
const share = `floor(${received}::numeric * (context ->> 'commissionRewardBps')::numeric / 10000)`
const outstanding = "greatest(0, amount + reward - paid - written_off)"

/** The checks on staking swaps, for the list in ledgerChecks.ts. */
export const swapChecks = [
  {
    name: "every taken swap has one principal posting, and every writer payment has one posting",
    figure: "SELECT count(*) AS n FROM swaps",
    breaks: `WITH ${due}, ${booked},
             counted AS (
               SELECT key, amount, sum(n) AS n
                 FROM (SELECT key, type, client_id, currency, amount, 1 AS n FROM due
                       UNION ALL SELECT key, type, client_id, currency, amount, -1 FROM booked) AS both_sides
                GROUP BY key, type, client_id, currency, amount HAVING sum(n) <> 0)
             SELECT key || ' ' || amount || CASE WHEN n > 0 THEN ' is not booked' ELSE ' is booked but not due' END AS what
               FROM counted LIMIT 1`
  },
  {
    name: "every ACCEPTING swap's hold equals its reserved postings, and any other swap holds nothing",
    figure: "SELECT count(*) AS n FROM swaps WHERE state = 'ACCEPTING'",
    breaks: `WITH reserved AS (
               SELECT ${swapOfKey} AS id, p.client_id, p.currency, sum(p.amount) AS amount
                 FROM ledger_transactions t JOIN postings p USING (tx_id)
                WHERE t.type IN ('SWAP_RESERVE', 'SWAP_RELEASE', 'SWAP_PRINCIPAL') AND p.kind = 'reserved' GROUP BY 1, 2, 3),
             holding AS (
               SELECT id::text AS id, client_id, currency, state,
                      CASE WHEN state = 'ACCEPTING' THEN ${notional} + ${estimated} ELSE 0 END AS amount FROM swaps)
             SELECT 'swap ' || coalesce(h.id, r.id) || ' is ' || coalesce(h.state, 'missing') || ' and holds '
                    || coalesce(h.amount, 0) || ', reserved for it are ' || coalesce(r.amount, 0) AS what
               FROM holding h FULL JOIN reserved r USING (id, client_id, currency)
              WHERE h.amount IS DISTINCT FROM coalesce(r.amount, 0) LIMIT 1`
  },
  {
    name: "every swap is charged exactly the venue's fee and the service's share of the received reward",
    figure: "SELECT count(*) AS n FROM swaps WHERE commission > 0",
    breaks: `WITH booked AS (
               SELECT ${swapOfKey} AS id, p.client_id, p.currency,
                      coalesce(sum(p.amount) FILTER (WHERE t.type = 'COMMISSION'), 0) AS commission,
                      coalesce(sum(p.amount) FILTER (WHERE t.type = 'SWAP_FEE_ADJUST'), 0) AS adjusted
                 FROM ledger_transactions t JOIN postings p USING (tx_id)
                WHERE p.client_id IS NOT NULL
                  AND (t.type = 'SWAP_FEE_ADJUST' OR (t.type = 'COMMISSION' AND t.key LIKE 'commission:swap:%'))
                GROUP BY 1, 2, 3)
             SELECT 'swap ' || coalesce(s.id::text, b.id) || ': commission ' || coalesce(s.commission, 0) || ', fee ' || coalesce(s.fee, 0)
                    || ', booked ' || coalesce(b.commission, 0) || ' and ' || coalesce(b.adjusted, 0) AS what
               FROM swaps s FULL JOIN booked b ON b.id = s.id::text AND b.client_id = s.client_id AND b.currency = s.currency
              WHERE s.id IS NULL OR s.commission <> -coalesce(b.commission, 0)
                 OR s.fee <> ${minor("s.context ->> 'estimatedFee'")} - coalesce(b.adjusted, 0)
                 OR s.commission > ${share} OR (s.closed_at IS NOT NULL AND s.commission <> ${share}) LIMIT 1`
  },
  {
    name: "every swap shows its booked figures, which add up to its expected payout, and only a defaulted swap has a claim",
    figure: "SELECT count(*) AS n FROM swaps WHERE state = 'DEFAULTED'",
    breaks: `SELECT 'swap ' || id || ' is ' || state AS what FROM swaps
              WHERE ${notional} <> amount OR ${minor("context ->> 'reward'")} <> reward OR ${minor("context ->> 'paid'")} <> paid
                 OR ${minor("context ->> 'writtenOff'")} <> written_off
                 OR paid <> coalesce((SELECT sum(${minor("p ->> 'amount'")}) FROM json_array_elements(context -> 'payments') p), 0)
                 OR paid + ${outstanding} + written_off <> greatest(amount + reward, paid)
                 OR (written_off > 0 AND state NOT IN ('DEFAULTED', 'FINAL_SETTLEMENT'))
                 OR ${minor("context ->> 'recovered'")} > paid
                 OR (state IN ('MATURED', 'CURED') AND ${outstanding} <> 0)
                 OR (state IN ('ACCEPTING', 'REJECTED')) IS DISTINCT FROM (contract_id IS NULL)
                 OR (state IN ('MATURED', 'CURED', 'FINAL_SETTLEMENT') AND closed_at IS NULL)
                 OR (state = 'DEFAULTED' AND (closed_at IS NULL) IS DISTINCT FROM (${outstanding} > 0))
                 OR (state IN ('ACCEPTING', 'OPEN', 'REJECTED') AND closed_at IS NOT NULL)
                 OR (closed_at IS NULL AND state NOT IN ('MATURED', 'CURED', 'FINAL_SETTLEMENT') AND commission <> 0) LIMIT 1`
  },
  {
    name: "every venue contract belongs to at most one swap of its client",
    figure: "SELECT count(*) AS n FROM swaps WHERE contract_id > 0",
    breaks: `SELECT 'contract ' || contract_id || ' of client ' || client_id || ' is ' || count(*) || ' swaps' AS what
               FROM swaps WHERE contract_id > 0 GROUP BY client_id, contract_id HAVING count(*) > 1 LIMIT 1`
  }
] as const
