/**
 * The missing requirements of a client for each action, and the gate that refuses an action for them. One table serves the
 * requirements map and the 4030 answer, so that the two never contradict each other. Source: doc 1, Onboarding result and
 * Errors (4030); A1-30, A1-31; F25 for the source of wealth (A2-90).
 */
import { Schema } from "effect"
import {
  BlockCode,
  blockCodes,
  BlockLevel,
  type BlockStatuses,
  micaBlockCodes,
  type VerificationLevel
} from "./Blocks.ts"

/** The eight gated actions, in the specification's order. */
export const actions = [
  "TRADE:PERP",
  "TRADE:SPOT",
  "TRADE:BARRIER",
  "TRADE:STAKING",
  "DEPOSIT:CRYPTO",
  "WITHDRAW:CRYPTO",
  "DEPOSIT:FIAT",
  "WITHDRAW:FIAT"
] as const

export const Action = Schema.Literals(actions)
export type Action = typeof Action.Type

/**
 * The possible requirements: a block; BANK_ACCOUNT for fiat, which partner money never uses and nothing satisfies;
 * COMPLIANCE_REVIEW when every block is approved and the level is still too low (added by the service).
 */
export const Requirement = Schema.Union([BlockCode, Schema.Literals(["BANK_ACCOUNT", "COMPLIANCE_REVIEW"])])
export type Requirement = typeof Requirement.Type

const missing = Schema.Array(Requirement)

/** The requirements map on the wire: an empty list means the action is open. */
export const Requirements = Schema.Struct({
  "TRADE:PERP": missing,
  "TRADE:SPOT": missing,
  "TRADE:BARRIER": missing,
  "TRADE:STAKING": missing,
  "DEPOSIT:CRYPTO": missing,
  "WITHDRAW:CRYPTO": missing,
  "DEPOSIT:FIAT": missing,
  "WITHDRAW:FIAT": missing
})
export type Requirements = typeof Requirements.Type

/** Data of the 4030 answer. */
export const GateRefusal = Schema.Struct({
  action: Action,
  level: Schema.Literals(["NONE", "MICA", "MICA_MIFID"]),
  requiredLevel: BlockLevel,
  missingBlocks: missing
})
export type GateRefusal = typeof GateRefusal.Type

interface Need {
  readonly level: BlockLevel
  readonly needed: ReadonlyArray<BlockCode | "BANK_ACCOUNT">
  /** Deposits and withdrawals: an EXPIRED block counts as APPROVED, so that the end of a passport locks in no client's money. */
  readonly money: boolean
  readonly sourceOfWealth: boolean
}

const spot: Need = { level: "MICA", needed: micaBlockCodes, money: false, sourceOfWealth: false }
const mifid: Need = { level: "MICA_MIFID", needed: blockCodes, money: false, sourceOfWealth: false }
const crypto: Need = { level: "MICA", needed: micaBlockCodes, money: true, sourceOfWealth: true }
const fiat: Need = {
  level: "MICA",
  needed: [...micaBlockCodes, "BANK_ACCOUNT"],
  money: true,
  sourceOfWealth: false
}

const needs: Readonly<Record<Action, Need>> = {
  "TRADE:PERP": mifid,
  "TRADE:SPOT": spot,
  "TRADE:BARRIER": mifid,
  "TRADE:STAKING": mifid,
  "DEPOSIT:CRYPTO": crypto,
  "WITHDRAW:CRYPTO": crypto,
  "DEPOSIT:FIAT": fiat,
  "WITHDRAW:FIAT": fiat
}

const ranks: Readonly<Record<VerificationLevel, number>> = { NONE: 0, MICA: 1, MICA_MIFID: 2 }

const satisfied = (blocks: BlockStatuses, code: BlockCode | "BANK_ACCOUNT", money: boolean): boolean => {
  if (code === "BANK_ACCOUNT") return false
  const status = blocks.get(code)
  return status === "APPROVED" || (money && status === "EXPIRED")
}

/** The sale of a held asset: a client can sell it after a passport has expired. */
const spotSale: Need = { ...spot, money: true }

const missingFor = (
  need: Need,
  blocks: BlockStatuses,
  level: VerificationLevel,
  eddDue: boolean
): ReadonlyArray<Requirement> => {
  const codes = need.sourceOfWealth && eddDue ? [...need.needed, "SOURCE_OF_WEALTH" as const] : need.needed
  const lacking = codes.filter((code) => !satisfied(blocks, code, need.money))
  return lacking.length === 0 && ranks[level] < ranks[need.level] ? ["COMPLIANCE_REVIEW"] : lacking
}

/** Whether no requirement is missing, without building the list: a gate that passes allocates nothing. */
const isMet = (need: Need, blocks: BlockStatuses, level: VerificationLevel, eddDue: boolean): boolean =>
  !(need.sourceOfWealth && eddDue) &&
  ranks[level] >= ranks[need.level] &&
  need.needed.every((code) => satisfied(blocks, code, need.money))

/**
 * The missing codes for each action, in the order of the blocks; an empty list means open. `eddDue`: the lifetime deposits
 * require the source of wealth on the crypto money actions.
 */
export const requirements = (blocks: BlockStatuses, level: VerificationLevel, eddDue: boolean): Requirements => {
  const of = (action: Action) => missingFor(needs[action], blocks, level, eddDue)
  return {
    "TRADE:PERP": of("TRADE:PERP"),
    "TRADE:SPOT": of("TRADE:SPOT"),
    "TRADE:BARRIER": of("TRADE:BARRIER"),
    "TRADE:STAKING": of("TRADE:STAKING"),
    "DEPOSIT:CRYPTO": of("DEPOSIT:CRYPTO"),
    "WITHDRAW:CRYPTO": of("WITHDRAW:CRYPTO"),
    "DEPOSIT:FIAT": of("DEPOSIT:FIAT"),
    "WITHDRAW:FIAT": of("WITHDRAW:FIAT")
  }
}

/**
 * The gate of one action: null lets it pass, otherwise the data of the 403 4030 answer. Used only for actions that open risk or
 * move money; closing risk has no gate. For a movement of money `eddDue` is `sourceOfWealthDue` of that movement.
 */
export const verificationGate = (
  action: Action,
  blocks: BlockStatuses,
  level: VerificationLevel,
  eddDue: boolean
): GateRefusal | null => gateOfNeed(action, needs[action], blocks, level, eddDue)

/** As `verificationGate`, for selling an asset on a SPOT market: it needs level MICA, and EXPIRED blocks do not stop it. */
export const spotSaleGate = (blocks: BlockStatuses, level: VerificationLevel): GateRefusal | null =>
  gateOfNeed("TRADE:SPOT", spotSale, blocks, level, false)

const gateOfNeed = (
  action: Action,
  need: Need,
  blocks: BlockStatuses,
  level: VerificationLevel,
  eddDue: boolean
): GateRefusal | null => {
  if (isMet(need, blocks, level, eddDue)) return null
  const missingBlocks = missingFor(need, blocks, level, eddDue)
  return missingBlocks.length === 0 ? null : { action, level, requiredLevel: need.level, missingBlocks }
}
