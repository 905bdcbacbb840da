/**
 * The namespaces of references. A reference of a namespace is used once for ever: the commit that files a row takes the claim
 * `<space>:<whose>:<reference>`, which holds the id of the row (`services/shared/fileOnce.ts`). Tables whose rows partners file
 * name their own space (`reference`, A3-01); the spaces of finance's commands are named here. `ledger verify` compares all of
 * them with the rows, both ways.
 */
import { catalogue, tableNames } from "../tables/Catalogue.ts"

export interface ReferenceSpace {
  readonly space: string
  /** The name of one filed object. */
  readonly one: string
  /**
   * Every row filed under a reference of the space: its `id`, the owner of the reference (`whose`), and the `reference` (SQL).
   */
  readonly filed: string
}

/** Payouts, by client; the id is that of the transaction that took the money out (A3-43). */
export const payoutSpace: ReferenceSpace = {
  space: "payout",
  one: "transaction",
  // A payout in two steps has the id of the transaction that took the money out.
  filed: `SELECT tx_id AS id, client_id AS whose, refs ->> 'reference' AS reference FROM ledger_transactions
           WHERE key LIKE 'payout:%' AND key NOT LIKE 'payout:%:reserve' AND refs ->> 'reference' IS NOT NULL`
}

/** Corrections, by client; the id is that of the transaction, whose ledger key is the claim's name (A2-62). */
export const correctionSpace: ReferenceSpace = {
  space: "manual",
  one: "transaction",
  filed: `SELECT tx_id AS id, client_id AS whose, refs ->> 'reference' AS reference FROM ledger_transactions
           WHERE type = 'MANUAL' AND key NOT LIKE 'payout:%' AND refs ->> 'reference' IS NOT NULL`
}

/** Payments between the firms, by partner; the id is that of the record (A3-25). */
export const interfirmSpace: ReferenceSpace = {
  space: "interfirm",
  one: "record",
  filed: "SELECT id, partner_id AS whose, tx_ref AS reference FROM interfirm_records"
}

/** The spaces of rows that partners file under their own references. */
export const partnerSpaces: ReadonlyArray<ReferenceSpace> = tableNames.flatMap((table) => {
  const { reference, sqlName } = catalogue[table]
  return reference === null
    ? []
    : [
        {
          space: reference,
          one: reference,
          filed: `SELECT id, partner_id AS whose, context ->> 'partnerRef' AS reference FROM ${sqlName}`
        }
      ]
})

/** The claim of a reference; `whose`: the id of the client or partner that owns it. */
export const claimIn = ({ space }: ReferenceSpace, whose: number, reference: string): string =>
  `${space}:${whose}:${reference}`
