/**
 * The requirements that a client lacks for each action, and the gate that refuses an action for them. One table serves the
 * requirements map and the 4030 answer, so the two never contradict each other. Source: doc 1, Onboarding result and Errors
 * (4030); A1-30, A1-31; F25 for the source of wealth (A2-90).
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
 * The possible requirements. A block must be approved. BANK_ACCOUNT is for fiat transfers; partner money never uses them, and
 * nothing satisfies it. COMPLIANCE_REVIEW is added by the service when every block is approved but the level is still too
 * low.
 */
export const Requirement = Schema.Union([BlockCode, Schema.Literals(["BANK_ACCOUNT", "COMPLIANCE_REVIEW"])])
export type Requirement = typeof Requirement.Type

const missing = Schema.Array(Requirement)

/** The missing requirements of each action, on the wire. An empty list means that the action is allowed. */
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

/** The data of a 403 answer with code 4030: the refused action and its missing requirements. */
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
  /**
   * True for deposits and withdrawals. An EXPIRED block then counts as APPROVED, so that an expired passport does not lock in
   * a client's money.
   */
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

/** Selling an asset that the client holds. Like a withdrawal, it stays possible after a passport has expired. */
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

/** Whether no requirement is missing. It does not build the list, so a gate that passes allocates no memory. */
const isMet = (need: Need, blocks: BlockStatuses, level: VerificationLevel, eddDue: boolean): boolean =>
  !(need.sourceOfWealth && eddDue) &&
  ranks[level] >= ranks[need.level] &&
  need.needed.every((code) => satisfied(blocks, code, need.money))

/**
 * The missing requirements of each action, in the order of the blocks; an empty list means that the action is allowed.
 * `eddDue`: the client's lifetime deposits require the source of wealth for the crypto money actions.
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
 * The gate of one action: null when it passes, otherwise the data of the 403 4030 answer. Only actions that open risk or move
 * money have this gate; closing risk has none. For a movement of money, `eddDue` is the result of `sourceOfWealthDue`.
 */
export const verificationGate = (
  action: Action,
  blocks: BlockStatuses,
  level: VerificationLevel,
  eddDue: boolean
): GateRefusal | null => gateOfNeed(action, needs[action], blocks, level, eddDue)

/** Like `verificationGate`, for selling an asset on a SPOT market: requires level MICA, and ignores that blocks are EXPIRED. */
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
