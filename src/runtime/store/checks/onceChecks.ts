/**
 * Checks of `ledger verify` on facts that make an action happen once (A2-62; operator surface, Four eyes): without its fact, the
 * same payout, correction or refused command could happen again. The references are compared with the sealed transactions both
 * ways. Approvals are compared only with the rows that name them. The rows of a command that used an approval don't name it, so a
 * missing fact of a completed command is not found here.
 */
import { correctionSpace, payoutSpace } from "../references.ts"
import { referencesHeld } from "./referenceChecks.ts"

/** Entries of the list in ledgerChecks.ts. */
export const onceChecks = [
  referencesHeld("every payout and correction holds its reference, and every reference names its transaction", [
    payoutSpace,
    correctionSpace
  ]),
  {
    name: "every approval use in the audit holds its claim, and every such claim belongs to a GRANTED approval",
    figure: "SELECT count(*) AS n FROM claims WHERE name LIKE 'approval:%'",
    breaks: `WITH held AS MATERIALIZED (SELECT name, owner FROM claims WHERE name LIKE 'approval:%'),
             used AS MATERIALIZED (
               SELECT object AS name,
                      CASE after WHEN 'COMMAND_REFUSED' THEN 0 ELSE split_part(object, ':', 2)::bigint END AS owner
                 FROM audit WHERE action = 'approval.used'),
             granted AS (SELECT 'approval:' || id AS name, id FROM approvals WHERE state = 'GRANTED')
             SELECT what FROM (
               SELECT u.name || ' was used without a claim' AS what
                 FROM used u LEFT JOIN held h ON h.name = u.name AND h.owner = u.owner WHERE h.name IS NULL
               UNION ALL
               SELECT h.name || ' is claimed but was not granted'
                 FROM held h LEFT JOIN granted g ON g.name = h.name AND h.owner IN (0, g.id) WHERE g.name IS NULL) f LIMIT 1`
  },
  {
    name: "every approval matches the command, arguments and requester in the audit",
    figure: "SELECT count(*) AS n FROM approvals",
    // Older versions recorded only the command, or no requester.
    breaks: `WITH asked AS MATERIALIZED (SELECT object, reason FROM audit WHERE action = 'approval.request')
             SELECT 'approval ' || p.id || ' of key ' || p.requested_by || ' is audited as ' || coalesce(a.reason, 'missing') AS what
               FROM approvals p LEFT JOIN asked a ON a.object = 'approval:' || p.id
              WHERE (a.reason IN (p.command, p.command || ' ' || (p.context ->> 'argumentsHash'),
                                  p.command || ' ' || (p.context ->> 'argumentsHash') || ' by ' || p.requested_by)) IS NOT TRUE
                 OR (p.context ->> 'requestedBy')::bigint IS DISTINCT FROM p.requested_by LIMIT 1`
  }
] as const
