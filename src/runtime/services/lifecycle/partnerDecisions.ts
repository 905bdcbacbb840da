/**
 * Operator commands on a partner, inside the partner's turn. Every state changes through its machine. A change on which
 * other commits may depend raises the epoch. Pure except for the turn's draft and ids (D15, D16, D17).
 */
import type { PartnerEvent, PartnerStatus } from "../../../machines/partner/Partner.ts"
import { type RelianceStatus, reliancePath } from "../../../machines/partner/Reliance.ts"
import { rateLimits } from "../../../machines/shared/Limits.ts"
import { accept, conflict, refuse, type Refusal, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { applyEffects } from "../../effects/Interpreter.ts"
import type { Instance } from "../../effects/Instance.ts"
import type { ApiKeyRow, PartnerRow } from "../../tables/partner.ts"
import { makeSecret } from "../shared/Secret.ts"
import { closeEndpoint } from "../webhooks/webhookDecisions.ts"
import { advance, start } from "../../effects/advance.ts"

const aboutPartner = (partnerId: number): Instance => ({ partnerId, clientId: null, object: `partner:${partnerId}` })

export interface NewPartner {
  readonly id: number
  readonly code: string
  readonly name: string
  readonly legalName: string
  readonly country: string
  readonly licence: string
  readonly sandbox: boolean
  readonly custodyModel: "BROKER" | "PARTNER"
  readonly collateralAsset: string
  readonly uidPrefix: string
}

/** Creates a partner: ACTIVE, reliance NONE, default rate limits, calls from any address. */
export const createPartner = (turn: Turn, partner: NewPartner): PartnerRow => {
  turn.draft.claim(codeClaim(partner.code), partner.id)
  turn.draft.claim(uidPrefixClaim(partner.uidPrefix), partner.id)
  const row = start(turn, "partners", {
    input: { partnerId: partner.id },
    event: { type: "CREATE", at: turn.now, reason: "created by the operator" },
    columns: {
      ...partner,
      readPerMinute: rateLimits.readPerMinute,
      tradePerMinute: rateLimits.tradePerMinute,
      allowedCidrs: [],
      epoch: 1,
      createdAt: turn.now
    }
  })
  start(turn, "reliances", { input: { partnerId: partner.id }, columns: { partnerId: partner.id } })
  return row
}

/** The unique fact of a code. People would confuse codes that differ only in case, so they count as equal. */
export const codeClaim = (code: string): string => `code:${code.toUpperCase()}`
export const uidPrefixClaim = (prefix: string): string => `uidPrefix:${prefix}`

const statusEvent = (to: PartnerStatus, at: number, reason: string, blockers: ReadonlyArray<string>): PartnerEvent => {
  switch (to) {
    case "ACTIVE":
      return { type: "REACTIVATE", at, reason }
    case "SUSPENDED":
      return { type: "SUSPEND", at, reason }
    case "CLOSED":
      return { type: "CLOSE", at, reason, blockers }
  }
}

/** Moves the partner's status. Closing also revokes every live key and ends the webhook in the same commit (D15, D13). */
export const setStatus = (
  turn: Turn,
  to: PartnerStatus,
  reason: string,
  blockers: ReadonlyArray<string>
): Verdict<PartnerRow> => {
  const row = turn.state.one("partners")
  if (row === undefined) return refuse(unknown("Partner"))
  if (row.state === to) return refuse(conflict("ALREADY", `The partner is ${to} already.`))
  const next = advance(turn, "partners", row, statusEvent(to, turn.now, reason, blockers), raising(row))
  if (next === null) {
    return blockers.length > 0 && row.state !== "CLOSED"
      ? refuse(conflict("BLOCKED", "The partner can't be closed yet.", { blockers }))
      : refuse(conflict("WRONG_STATE", `The partner is ${row.state}, so it can't become ${to}.`))
  }
  if (to === "CLOSED") {
    for (const key of turn.state.all("apiKeys")) revokeKey(turn, key, "partner closed")
    closeEndpoint(turn)
  }
  return accept(next)
}

export interface CustodyChange {
  readonly to: "BROKER" | "PARTNER"
  /** Empty under BROKER custody. */
  readonly collateralAsset: string
  readonly reason: string
  /** The role, which partners may see. */
  readonly changedBy: string
}

/** The reason why the change is refused even without blockers: the partner is closed, or already has the model. */
export const custodyRefusal = (row: PartnerRow, to: CustodyChange["to"]): Refusal | null => {
  if (row.state === "CLOSED") return conflict("PARTNER_CLOSED", "The partner is CLOSED.")
  return row.custodyModel === to ? conflict("ALREADY", `The partner is under ${to} custody already.`) : null
}

/**
 * Changes the custody model, and records the first transaction under it. `blockers` were counted while no turn of the
 * partner's clients could be decided (doc 3, Changing the custody model; D15).
 */
export const changeCustody = (
  turn: Turn,
  { to, collateralAsset, reason, changedBy }: CustodyChange,
  blockers: ReadonlyArray<string>
): Verdict<PartnerRow> => {
  const row = turn.state.one("partners")
  if (row === undefined) return refuse(unknown("Partner"))
  const refusal = custodyRefusal(row, to)
  if (refusal !== null) return refuse(refusal)
  const next = advance(
    turn,
    "partners",
    row,
    {
      type: "CHANGE_CUSTODY",
      at: turn.now,
      reason,
      before: custodyName(row.custodyModel, row.collateralAsset),
      after: custodyName(to, collateralAsset),
      blockers
    },
    raising(row, { custodyModel: to, collateralAsset })
  )
  if (next === null) return refuse(conflict("BLOCKED", "The custody model can't be changed yet.", { blockers }))
  turn.draft.put("custodyChanges", {
    id: turn.nextId("transaction"),
    partnerId: row.id,
    before: row.custodyModel,
    after: to,
    collateralAsset,
    reason,
    changedBy,
    changedAt: turn.now
  })
  return accept(next)
}

const custodyName = (model: string, asset: string): string => (asset === "" ? model : `${model} ${asset}`)

/** Moves a partner's reliance along its states (D16). A move from NONE to APPROVED records both of its steps. */
export const setReliance = (turn: Turn, to: RelianceStatus, reason: string): Verdict<PartnerRow> => {
  const row = turn.state.one("partners")
  const reliance = turn.state.one("reliances")
  if (row === undefined || reliance === undefined) return refuse(unknown("Partner"))
  if (row.state === "CLOSED") return refuse(conflict("PARTNER_CLOSED", "The partner is CLOSED."))
  if (reliance.state === to) return refuse(conflict("ALREADY", `Reliance is ${to} already.`))
  const path = reliancePath(reliance.state, to)
  if (path === null) return refuse(conflict("WRONG_STATE", `Reliance is ${reliance.state}, so it can't become ${to}.`))
  let moved = reliance
  for (const type of path) {
    const next = advance(turn, "reliances", moved, { type, at: turn.now, reason })
    if (next === null) throw new Error(`reliance refused ${type} in ${moved.state}, which its own path asked for`)
    moved = next
  }
  const next = raised(row)
  turn.draft.put("partners", next)
  return accept(next)
}

/** Changes a partner's settings. No machine takes a step, so the audit row is written here. */
export const configure = (
  turn: Turn,
  action: string,
  change: Partial<Pick<PartnerRow, "readPerMinute" | "tradePerMinute" | "allowedCidrs">>,
  shown: (row: PartnerRow) => string
): Verdict<PartnerRow> => {
  const row = turn.state.one("partners")
  if (row === undefined) return refuse(unknown("Partner"))
  if (row.state === "CLOSED") return refuse(conflict("PARTNER_CLOSED", "The partner is CLOSED."))
  const next = raised({ ...row, ...change })
  turn.draft.put("partners", next)
  applyEffects(turn, aboutPartner(row.id), [
    { type: "audit", action, before: shown(row), after: shown(next), reason: null }
  ])
  return accept(next)
}

/** Raises the epoch, so that commits decided under the old row are rejected and decided again. */
const raised = (row: PartnerRow): PartnerRow => ({ ...row, epoch: row.epoch + 1 })

const raising = (row: PartnerRow, change: Partial<Pick<PartnerRow, "custodyModel" | "collateralAsset">> = {}) => ({
  set: { ...change, epoch: row.epoch + 1 }
})

export interface IssuedKey {
  readonly keyId: number
  readonly key: string
  readonly prefix: string
  readonly label: string
  readonly scope: "READ" | "TRADE"
}

/** A new partner key; only the reply holds the readable key. */
export const issueKey = (turn: Turn, label: string, scope: "READ" | "TRADE"): Verdict<IssuedKey> => {
  const partner = turn.state.one("partners")
  if (partner === undefined) return refuse(unknown("Partner"))
  if (partner.state === "CLOSED") return refuse(conflict("PARTNER_CLOSED", "The partner is CLOSED."))
  const id = turn.nextId("key")
  const { key, hash, prefix } = makeSecret("pbk_")
  start(turn, "apiKeys", {
    input: { keyId: id, createdAt: turn.now },
    columns: { id, partnerId: partner.id, hash, prefix, label, scope, createdAt: turn.now }
  })
  return accept({ keyId: id, key, prefix, label, scope })
}

/**
 * Revokes a key; null: it was already revoked. Requests under the key that are admitted but not committed are decided
 * again, and then barred (D17).
 */
export const revokeOneKey = (turn: Turn, key: ApiKeyRow, reason: string): ApiKeyRow | null => {
  const next = revokeKey(turn, key, reason)
  const partner = turn.state.one("partners")
  if (next !== null && partner !== undefined) turn.draft.put("partners", raised(partner))
  return next
}

const revokeKey = (turn: Turn, key: ApiKeyRow, reason: string): ApiKeyRow | null =>
  advance(turn, "apiKeys", key, { type: "REVOKE", at: turn.now, reason })
