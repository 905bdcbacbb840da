/**
 * What an operator command does to a partner, inside the partner's turn: every state through its machine, and the epoch
 * raised by each change that other commits may rest on (D15, D16, D17; operator surface, Back office). Pure but for the
 * turn's draft and ids.
 */
import type { JsonObject } from "../../../machines/Effects.ts"
import type { ApiKeyContext } from "../../../machines/partner/ApiKey.ts"
import { apiKeyMachine } from "../../../machines/partner/apiKeyMachine.ts"
import type { PartnerContext, PartnerEvent, PartnerStatus } from "../../../machines/partner/Partner.ts"
import { partnerMachine } from "../../../machines/partner/partnerMachine.ts"
import { type RelianceContext, type RelianceStatus, reliancePath } from "../../../machines/partner/Reliance.ts"
import { relianceMachine } from "../../../machines/partner/relianceMachine.ts"
import { rateLimits } from "../../../machines/shared/Limits.ts"
import { accept, conflict, refuse, type Refusal, unknown, type Verdict } from "../../../machines/shared/Refusal.ts"
import type { Turn } from "../../engine/mailbox/ActorHost.ts"
import { begin, create, step, versionOf } from "../../engine/machine/decide.ts"
import { applyEffects, type Instance } from "../../effects/Interpreter.ts"
import type { ApiKeyRow, PartnerRow, RelianceRow } from "../../store/Rows.ts"
import { makeSecret } from "../operator/OperatorKeys.ts"
import { closeEndpoint } from "../webhook/webhookDecisions.ts"

const aboutPartner = (partnerId: number): Instance => ({ partnerId, clientId: null, object: `partner:${partnerId}` })
const aboutReliance = (partnerId: number): Instance => ({ partnerId, clientId: null, object: `reliance:${partnerId}` })
const aboutKey = (partnerId: number, id: number): Instance => ({ partnerId, clientId: null, object: `apiKey:${id}` })

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

/** A new partner: ACTIVE, reliance NONE, the default rates, callable from anywhere. */
export const createPartner = (turn: Turn, partner: NewPartner): PartnerRow => {
  const decided = create(
    partnerMachine,
    { partnerId: partner.id },
    { type: "CREATE", at: turn.now, reason: "created by the operator" }
  )
  const row: PartnerRow = {
    ...partner,
    state: decided.state,
    version: versionOf("partner"),
    context: decided.context as unknown as JsonObject,
    readPerMinute: rateLimits.readPerMinute,
    tradePerMinute: rateLimits.tradePerMinute,
    allowedCidrs: [],
    epoch: 1,
    createdAt: turn.now
  }
  turn.draft.claim(codeClaim(partner.code), partner.id)
  turn.draft.claim(uidPrefixClaim(partner.uidPrefix), partner.id)
  turn.draft.put("partners", row)
  applyEffects(turn, aboutPartner(partner.id), decided.effects)
  const reliance = begin(relianceMachine, { partnerId: partner.id })
  turn.draft.put("reliances", relianceRow(partner.id, reliance.state, reliance.context))
  applyEffects(turn, aboutReliance(partner.id), reliance.effects)
  return row
}

/** Codes differing in case alone would be confused by people. */
export const codeClaim = (code: string): string => `code:${code.toUpperCase()}`
export const uidPrefixClaim = (prefix: string): string => `uidPrefix:${prefix}`

const relianceRow = (partnerId: number, state: string, context: RelianceContext): RelianceRow => ({
  partnerId,
  state,
  version: versionOf("reliance"),
  context: context as unknown as JsonObject
})

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
  if (row.state === to) return refuse(conflict(`The partner is ${to} already.`))
  const decided = step(
    partnerMachine,
    { state: row.state, context: row.context as unknown as PartnerContext },
    statusEvent(to, turn.now, reason, blockers)
  )
  if (!decided.changed) {
    return blockers.length > 0 && row.state !== "CLOSED"
      ? refuse(conflict("The partner can't be closed yet.", { blockers }))
      : refuse(conflict(`The partner is ${row.state}, so it can't become ${to}.`))
  }
  const next = raised({ ...row, state: decided.state, context: decided.context as unknown as JsonObject })
  turn.draft.put("partners", next)
  applyEffects(turn, aboutPartner(row.id), decided.effects)
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
  /** The role that others may see. */
  readonly changedBy: string
}

/** What refuses the change whatever is open: a closed partner, or the model it has already. */
export const custodyRefusal = (row: PartnerRow, to: CustodyChange["to"]): Refusal | null => {
  if (row.state === "CLOSED") return conflict("The partner is CLOSED.")
  return row.custodyModel === to ? conflict(`The partner is under ${to} custody already.`) : null
}

/**
 * Another custody model, with the fact that says from which transaction on it holds. `blockers` were counted while no
 * turn of the partner's clients could be decided (document 3, Changing the custody model; D15).
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
  const decided = step(
    partnerMachine,
    { state: row.state, context: row.context as unknown as PartnerContext },
    {
      type: "CHANGE_CUSTODY",
      at: turn.now,
      reason,
      before: custodyName(row.custodyModel, row.collateralAsset),
      after: custodyName(to, collateralAsset),
      blockers
    }
  )
  if (!decided.changed) return refuse(conflict("The custody model can't be changed yet.", { blockers }))
  const next = raised({ ...row, custodyModel: to, collateralAsset, version: versionOf("partner") })
  turn.draft.put("partners", next)
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
  applyEffects(turn, aboutPartner(row.id), decided.effects)
  return accept(next)
}

const custodyName = (model: string, asset: string): string => (asset === "" ? model : `${model} ${asset}`)

/** Moves reliance along D16; APPROVED from NONE records both moves. */
export const setReliance = (turn: Turn, to: RelianceStatus, reason: string): Verdict<PartnerRow> => {
  const row = turn.state.one("partners")
  const reliance = turn.state.one("reliances")
  if (row === undefined || reliance === undefined) return refuse(unknown("Partner"))
  if (row.state === "CLOSED") return refuse(conflict("The partner is CLOSED."))
  if (reliance.state === to) return refuse(conflict(`Reliance is ${to} already.`))
  const path = reliancePath(reliance.state as RelianceStatus, to)
  if (path === null) return refuse(conflict(`Reliance is ${reliance.state}, so it can't become ${to}.`))
  let { state } = reliance
  let context = reliance.context as unknown as RelianceContext
  for (const type of path) {
    const decided = step(relianceMachine, { state, context }, { type, at: turn.now, reason })
    if (!decided.changed) throw new Error(`reliance refused ${type} in ${state}, which its own path asked for`)
    applyEffects(turn, aboutReliance(row.id), decided.effects)
    state = decided.state
    context = decided.context
  }
  turn.draft.put("reliances", relianceRow(row.id, state, context))
  const next = raised(row)
  turn.draft.put("partners", next)
  return accept(next)
}

/** A change of settings: no state moves, so the audit row is written here and not by a machine. */
export const configure = (
  turn: Turn,
  action: string,
  change: Partial<Pick<PartnerRow, "readPerMinute" | "tradePerMinute" | "allowedCidrs">>,
  tell: (row: PartnerRow) => string
): Verdict<PartnerRow> => {
  const row = turn.state.one("partners")
  if (row === undefined) return refuse(unknown("Partner"))
  if (row.state === "CLOSED") return refuse(conflict("The partner is CLOSED."))
  const next = raised({ ...row, ...change })
  turn.draft.put("partners", next)
  applyEffects(turn, aboutPartner(row.id), [
    { type: "audit", action, before: tell(row), after: tell(next), reason: null }
  ])
  return accept(next)
}

/** Commits that were decided under the old row are refused and decided again. */
const raised = (row: PartnerRow): PartnerRow => ({ ...row, epoch: row.epoch + 1 })

export interface IssuedKey {
  readonly keyId: number
  readonly key: string
  readonly prefix: string
  readonly label: string
  readonly scope: "READ" | "TRADE"
}

/** A new partner key; the readable key is in the answer and nowhere else. */
export const issueKey = (turn: Turn, label: string, scope: "READ" | "TRADE"): Verdict<IssuedKey> => {
  const partner = turn.state.one("partners")
  if (partner === undefined) return refuse(unknown("Partner"))
  if (partner.state === "CLOSED") return refuse(conflict("The partner is CLOSED."))
  const id = turn.nextId("key")
  const { key, hash, prefix } = makeSecret("pbk_")
  const decided = begin(apiKeyMachine, { keyId: id, createdAt: turn.now })
  turn.draft.put("apiKeys", {
    id,
    partnerId: partner.id,
    state: decided.state,
    version: versionOf("apiKey"),
    context: decided.context as unknown as JsonObject,
    hash,
    prefix,
    label,
    scope,
    createdAt: turn.now
  })
  applyEffects(turn, aboutKey(partner.id, id), decided.effects)
  return accept({ keyId: id, key, prefix, label, scope })
}

/** The revoked row, or null when the key was revoked before. */
export const revokeKey = (turn: Turn, key: ApiKeyRow, reason: string): ApiKeyRow | null => {
  const decided = step(
    apiKeyMachine,
    { state: key.state, context: key.context as unknown as ApiKeyContext },
    { type: "REVOKE", at: turn.now, reason }
  )
  if (!decided.changed) return null
  const next = { ...key, state: decided.state, context: decided.context as unknown as JsonObject }
  turn.draft.put("apiKeys", next)
  applyEffects(turn, aboutKey(key.partnerId, key.id), decided.effects)
  return next
}
