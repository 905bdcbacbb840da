/**
 * SQL checks of `ledger verify` on statements (D20; A2-66, STS-16, STS-20, STS-22): each has a completely stored model, each
 * period has one live statement, versions are consecutive, and the seal in a model is the ledger's.
 */

/** The sources of a model; null for a row that has them in another form. */
const facts = `CASE WHEN context ->> 'facts' LIKE '{%' THEN (context ->> 'facts')::json END`

/** The checks of statements, which the list in ledgerChecks.ts includes. */
export const statementChecks = [
  {
    name: "every statement's model is stored completely, with the hash and row count that it shows",
    figure: "SELECT count(*) AS n FROM statements",
    breaks: `WITH stored AS (
               SELECT model_id, count(*) AS n, max(number) AS last FROM statement_pieces GROUP BY model_id),
             models AS (
               SELECT m.*, p.n, p.last, (SELECT sum(each::bigint) FROM json_array_elements_text(m.counts) AS each) AS rows
                 FROM statement_models m LEFT JOIN stored p ON p.model_id = m.id)
             SELECT 'statement ' || s.id || ' is of model ' || s.model_id || CASE WHEN m.id IS NULL THEN ', which is missing'
                    ELSE ' with ' || coalesce(m.n, 0) || ' of ' || m.pieces || ' pieces, ' || m.rows || ' rows and the hash ' || m.sha256 END AS what
               FROM statements s LEFT JOIN models m ON m.id = s.model_id
              WHERE m.id IS NULL OR m.sha256 <> s.context ->> 'sha256' OR m.client_id <> s.client_id
                 OR m.n IS DISTINCT FROM m.pieces OR m.last <> m.pieces - 1
                 OR m.rows <> (s.context ->> 'rows')::bigint LIMIT 1`
  },
  {
    name: "every period's statement versions form a claimed chain without gaps, and only the last is live",
    figure: "SELECT count(*) AS n FROM statements WHERE state = 'GENERATED'",
    breaks: `WITH chain AS (
               SELECT s.*, lag(id) OVER versions AS before, lag(number) OVER versions AS last, lead(id) OVER versions AS next,
                      'statement:' || kind || ':' || client_id || ':' || period_from || ':' || period_to || ':' || number AS claim
                 FROM statements s
               WINDOW versions AS (PARTITION BY client_id, kind, period_from, period_to ORDER BY number, id))
             SELECT 'statement ' || c.id || ' is version ' || c.number || ', ' || c.state || ', after ' || coalesce(c.before::text, 'none')
                    || ' and before ' || coalesce(c.next::text, 'none') AS what
               FROM chain c LEFT JOIN claims ON claims.name = c.claim
              WHERE c.number <> coalesce(c.last, 0) + 1 OR claims.owner IS DISTINCT FROM c.id
                 OR (c.context #>> '{supersedes,statementId}')::bigint IS DISTINCT FROM c.before
                 OR (c.context ->> 'supersededBy')::bigint IS DISTINCT FROM c.next
                 OR (c.state = 'GENERATED') IS DISTINCT FROM (c.next IS NULL)
                 OR c.context ->> 'kind' <> c.kind OR (c.context ->> 'version')::bigint <> c.number
                 OR (c.context ->> 'periodFrom')::bigint <> c.period_from OR (c.context ->> 'periodTo')::bigint <> c.period_to LIMIT 1`
  },
  {
    name: "every statement of postings names the ledger seal that covers its last posting",
    figure: "SELECT count(*) AS n FROM statements WHERE context ->> 'facts' LIKE '{%'",
    breaks: `WITH made AS MATERIALIZED (SELECT id, ${facts} AS facts FROM statements),
             named AS MATERIALIZED (
               SELECT id, (facts #>> '{cut,postingId}')::bigint AS posting, (facts #>> '{ledgerSeal,number}')::bigint AS number,
                      facts #>> '{ledgerSeal,hash}' AS hash FROM made WHERE facts IS NOT NULL)
             SELECT 'statement ' || n.id || ' rests on posting ' || n.posting || ' and seal ' || coalesce(n.number::text, 'none') AS what
               FROM named n LEFT JOIN seals ON seals.number = n.number
              WHERE (n.posting > 0 OR n.hash IS NOT NULL) AND (seals.hash IS DISTINCT FROM n.hash OR seals.posting_to < n.posting
                 OR n.hash IS NULL) LIMIT 1`
  }
] as const
