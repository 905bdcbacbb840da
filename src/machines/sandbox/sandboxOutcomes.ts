/**
 * How a partner developer, or the operator of a sandbox, brings each machine into each of its states. Exhaustive: a new
 * machine or state does not compile until it says how it is reached. The reference at /docs, docs/sandbox.md and
 * `sim names` show it.
 */
import { statesOf } from "../describe.ts"
import { type Kind, kinds, machines, type StateOf } from "../registry.ts"

/** Who can do it: the partner by its own requests, the operator by a command, or nobody through these surfaces. */
export type ReachedBy = "partner" | "operator" | "nobody"

export interface Reach {
  readonly by: ReachedBy
  readonly how: string
}

export interface SandboxOutcome extends Reach {
  readonly machine: Kind
  readonly state: string
  readonly meaning: string
  readonly final: boolean
}

const partner = (how: string): Reach => ({ by: "partner", how })
const operator = (how: string): Reach => ({ by: "operator", how })
const nobody = (how: string): Reach => ({ by: "nobody", how })

const reach: { readonly [K in Kind]: { readonly [S in StateOf<K>]: Reach } } = {
  partner: {
    ACTIVE: operator("`partner create`"),
    SUSPENDED: operator("`partner status P SUSPENDED --reason R`"),
    CLOSED: operator("`partner status P CLOSED --reason R`, once nothing is open")
  },
  reliance: {
    NONE: operator("`partner create`: a new partner has none"),
    REQUESTED: operator("`partner reliance P REQUESTED --reason R`"),
    APPROVED: operator("`partner reliance P APPROVED --reason R`"),
    SUSPENDED: operator("`partner reliance P SUSPENDED --reason R`"),
    REVOKED: operator("`partner reliance P REVOKED --reason R`")
  },
  apiKey: {
    ACTIVE: operator("`key issue P --label L --scope TRADE`"),
    REVOKED: operator("`key revoke KEYID`")
  },
  client: {
    KYC_PENDING: partner("last name Sanctionlisted, Possiblematch or Politicallyexposed; or pep.is_pep true"),
    ACTIVE: partner("any name that is not published here; after a review: last name Clearedlater"),
    RESTRICTED: partner("last name Restrictedlater; or PUT .../kyc of an ACTIVE client to last name Sanctionlisted"),
    KYC_REJECTED: partner("last name Personrejected"),
    CLOSED: partner("last name Closedlater")
  },
  kycPackage: {
    ACCEPTED: partner("any name that is not published here"),
    SPOT_CHECK: partner("last name Sanctionlisted"),
    DOCUMENTS_REQUESTED: partner("last name Documentsrequested"),
    REJECTED: partner("last name Reliancerejected")
  },
  verificationBlock: {
    NOT_STARTED: partner("APPROPRIATENESS of a new client"),
    DRAFT: nobody("direct clients alone leave drafts"),
    SUBMITTED: partner("APPROPRIATENESS after answers that give WARN or FAIL (`sim answers WARN`)"),
    APPROVED: partner("PERSONAL_INFO of a new client; PUT .../mifid for the MiFID blocks"),
    REJECTED: partner("last name Reliancerejected: all twelve"),
    EXPIRED: partner(
      "IDENTIFICATION two days after an identification.expiration_date of tomorrow (`sim clock advance 2d`)"
    )
  },
  assessment: {
    IDLE: partner("last name Reliancerejected with answers sent before the rejection"),
    PASSED: partner("answers that give PASS (`sim answers PASS`)"),
    WARNED: partner("answers that give WARN (`sim answers WARN`)"),
    FAILED: partner("answers that give FAIL (`sim answers FAIL`)"),
    ACKNOWLEDGED: partner("answers that give WARN, then POST .../appropriateness/acknowledge")
  },
  case: {
    OPEN: partner("last name Sanctionlisted"),
    CLEARED: partner("last name Clearedlater"),
    REJECTED: partner("last name Reliancerejected")
  },
  approval: {
    PENDING: operator("a guarded command of a service with `serve --four-eyes CLASS`"),
    GRANTED: operator("`approval grant ID` with a second key"),
    REFUSED: operator("`approval refuse ID`"),
    EXPIRED: operator("an approval that waits longer than its time (`sim clock advance`)")
  },
  watchImport: {
    OPEN: operator("`screening import FILE`, until all of its entries are in"),
    REMOVING: operator("`screening import FILE`, until what it no longer names is gone"),
    DONE: operator("`screening import FILE`"),
    REPLACED: operator("`screening import FILE` of a later version of the same source"),
    ABANDONED: operator("`screening import FILE` of a source while another import of it is unfinished")
  },
  screeningPass: {
    RUNNING: operator("`screening add` or `screening import FILE`, until all clients are screened"),
    DONE: operator("`screening add`, or the next night (`sim clock advance 1d`)"),
    REPLACED: operator("`screening add`, when the night comes before all clients are screened")
  },
  depositNotice: {
    PENDING: partner("POST .../deposits, of a partner under BROKER custody without the sandbox mark"),
    CONFIRMED: partner("POST .../deposits, of a sandbox partner under BROKER custody: confirmed in the call"),
    REJECTED: operator("`deposit reject ID --reason R` of a PENDING notice")
  },
  collateralReport: {
    BOOKED: partner("POST .../collateral, DEPOSIT of any allowed amount"),
    REFUSED: partner("POST .../collateral, WITHDRAWAL of more than the client has")
  },
  settlementItem: {
    PENDING: partner("last name Creditedlater, of a partner under PARTNER custody"),
    FAILED: partner("POST /settlement/items/{itemId}/report with status FAILED, for a PENDING item"),
    SETTLED: partner("POST /settlement/items/{itemId}/report with status SETTLED, for a PENDING or FAILED item")
  },
  withdrawalRequest: {
    REQUESTED: partner("POST .../withdrawals of a partner without the sandbox flag, under BROKER custody"),
    APPROVED: operator("`withdrawal approve ID`, for a REQUESTED request"),
    PAID: partner("POST .../withdrawals of a sandbox partner under BROKER custody; else `withdrawal pay ID`"),
    REJECTED: operator("`withdrawal reject ID --reason R`; after an approval `withdrawal fail ID --reason R`"),
    CANCELLED: partner("POST .../withdrawals/{rid}/cancel, for a REQUESTED request")
  },
  reconBreak: {
    OPEN: operator("`break open --scope ALL --currency USDC --amount D --reason R`"),
    CLOSED: operator("`break close ID --reason R`")
  },
  webhookEndpoint: {
    ACTIVE: partner("PUT /webhook"),
    INACTIVE: partner("DELETE /webhook")
  },
  webhookDelivery: {
    PENDING: partner("any event, until its first attempt"),
    RETRYING: partner("an endpoint that answers 500 (`sim partner listen --fail 1`)"),
    SENT: partner("an endpoint that answers 204"),
    FAILED: partner("an endpoint that answers 500 to ten attempts (`sim partner listen --fail 10`)")
  }
}

/** Every stored state of every machine in the machines' own order, with what it means and how it is reached. */
export const sandboxOutcomes: ReadonlyArray<SandboxOutcome> = kinds.flatMap((machine) =>
  statesOf(machines[machine].machine).flatMap(({ name: state, description: meaning, final }) => {
    const row = (reach[machine] as Readonly<Record<string, Reach>>)[state]
    return row === undefined ? [] : [{ machine, state, meaning, final, ...row }]
  })
)

/** Rows that name no state of their machine: none, or the table and the machines have drifted apart. */
export const strayOutcomes: ReadonlyArray<string> = kinds.flatMap((machine) => {
  const known = statesOf(machines[machine].machine).map(({ name }) => name)
  return Object.keys(reach[machine]).flatMap((state) => (known.includes(state) ? [] : [`${machine} ${state}`]))
})
