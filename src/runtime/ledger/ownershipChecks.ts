/**
 * What `ledger verify` proves about whose the money is (document 1, Errors 4004: a partner reaches its own clients alone):
 * the partner on every row of money is its client's, and the client's partner is the one that the sealed postings name.
 */

/** The rows of a table against their clients. */
const owned = (what: string, table: string, id: string) => ({
  name: `every ${what} is of its client's partner`,
  figure: `SELECT count(*) AS n FROM ${table}`,
  breaks: `SELECT '${what} ' || ${id} || ' of client ' || r.client_id || ' is of partner ' || r.partner_id AS what
             FROM ${table} r LEFT JOIN clients c ON c.id = r.client_id
            WHERE r.partner_id IS DISTINCT FROM c.partner_id LIMIT 1`
})

/** Entries of the list in verify.ts; collateral reports are among the figures. */
export const ownershipChecks = [
  owned("balance", "balances", "r.currency"),
  owned("deposit notice", "deposit_notices", "r.id"),
  owned("withdrawal request", "withdrawal_requests", "r.id"),
  owned("settlement item", "settlement_items", "r.id"),
  {
    name: "every client is of the partner that its postings name",
    figure: "SELECT count(*) AS n FROM clients",
    breaks: `SELECT 'client ' || p.client_id || ' is of partner ' || coalesce(c.partner_id::text, 'none') || ', its postings of '
                    || p.partner_id AS what
               FROM (SELECT client_id, partner_id FROM postings WHERE client_id IS NOT NULL GROUP BY client_id, partner_id) p
               LEFT JOIN clients c ON c.id = p.client_id
              WHERE p.partner_id IS DISTINCT FROM c.partner_id LIMIT 1`
  }
] as const
