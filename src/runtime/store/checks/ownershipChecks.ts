/**
 * Checks of `ledger verify` on the ownership of money (doc 1, Errors 4004: a partner reaches only its own clients): the partner
 * on every money row is its client's, and the client's partner is the one in the sealed postings.
 */
import { catalogue, tableNames } from "../../tables/Catalogue.ts"
import type { TableSpec } from "../../tables/Table.ts"

/** Tables whose every row names a client and a partner; the clients table is the reference. */
const owned = tableNames
  .map((table) => catalogue[table] as TableSpec)
  .filter(({ columns }) =>
    ["clientId", "partnerId"].every((name) => columns.some((column) => column.name === name && !column.nullable))
  )

/** The tables with amounts, which have a check each, and all others, which share one. */
const [money, others] = [
  owned.filter(({ columns }) => columns.some(({ type }) => type === "money")),
  owned.filter(({ columns }) => columns.every(({ type }) => type !== "money"))
]

/** SQL of a row's name in a violation: its key without client and partner. */
const named = ({ key, columns }: TableSpec): string =>
  columns
    .filter(({ name }) => key.includes(name) && name !== "clientId" && name !== "partnerId")
    .map(({ sqlName }) => `r.${sqlName} || ' '`)
    .join(" || ")

const strays = (spec: TableSpec): string => {
  const name = named(spec)
  return `SELECT '${spec.title} ' || ${name === "" ? "" : `${name} || `}'of client ' || r.client_id || ' belongs to partner ' || r.partner_id AS what
            FROM ${spec.sqlName} r LEFT JOIN clients c ON c.id = r.client_id
           WHERE r.partner_id IS DISTINCT FROM c.partner_id LIMIT 1`
}

/** The checks on ownership, for the list in ledgerChecks.ts. Collateral reports have one more in figureChecks.ts. */
export const ownershipChecks = [
  ...money.map((spec) => ({
    name: `every ${spec.title} belongs to its client's partner`,
    figure: `SELECT count(*) AS n FROM ${spec.sqlName}`,
    breaks: strays(spec)
  })),
  {
    name: "every other client record belongs to its client's partner",
    figure: `SELECT sum(n) AS n FROM (${others.map(({ sqlName }) => `SELECT count(*) AS n FROM ${sqlName}`).join(" UNION ALL ")}) AS counts`,
    breaks: others.map((spec) => `(${strays(spec)})`).join(" UNION ALL ")
  },
  {
    name: "every client belongs to the partner that its postings name",
    figure: "SELECT count(*) AS n FROM clients",
    breaks: `SELECT 'client ' || p.client_id || ' belongs to partner ' || coalesce(c.partner_id::text, 'none') || ', its postings of '
                    || p.partner_id AS what
               FROM (SELECT client_id, partner_id FROM postings WHERE client_id IS NOT NULL GROUP BY client_id, partner_id) p
               LEFT JOIN clients c ON c.id = p.client_id
              WHERE p.partner_id IS DISTINCT FROM c.partner_id LIMIT 1`
  }
] as const
