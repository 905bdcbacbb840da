/**
 * Checks of `ledger verify` on the accounts of postings (A2-62, A2-98): the type of a transaction determines the house account
 * opposite the client's. The sums of house accounts are therefore as reliable as the clients' postings. The venue's house
 * account is the negative of the clients' results, exchanges and settlements; `sim verify` compares these with the venue's own
 * books.
 */
import { partnerCustodyAccount, postingRules } from "../../../machines/postingRules.ts"

/** Posting type and house account, without the partner's number; empty if both sides belong to the client. */
const houses = Object.entries(postingRules)
  .map(([entry, { house }]) => `('${entry}', ${house === null ? "NULL" : `'${house(0)}'`})`)
  .join(", ")

/** Entries of the list in ledgerChecks.ts. */
export const houseChecks = [
  {
    name: "every posting is in its client's account or in the house account of its transaction type",
    figure: "SELECT count(DISTINCT account) AS n FROM postings WHERE client_id IS NULL",
    breaks: `SELECT 'posting ' || p.posting_id || ' of ' || t.type || ' is in ' || p.account AS what
               FROM postings p JOIN ledger_transactions t USING (tx_id) LEFT JOIN (VALUES ${houses}) AS h (type, house) USING (type)
              WHERE p.account IS DISTINCT FROM (CASE
                      WHEN p.client_id IS NOT NULL THEN 'client:' || p.client_id
                      WHEN h.house = '${partnerCustodyAccount(0)}' THEN 'partner_custody:' || p.partner_id
                      ELSE h.house END) LIMIT 1`
  }
] as const
