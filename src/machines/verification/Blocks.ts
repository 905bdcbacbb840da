/**
 * The twelve verification blocks, their statuses and their shape on the wire. Partners receive them in this order everywhere:
 * verification view, requirements, missing blocks (doc 1, Verification view and Block statuses; A1-45, A1-46, D3).
 */
import { Schema } from "effect"

/** The seven blocks of level MICA, in the specification's order. */
export const micaBlockCodes = [
  "PERSONAL_INFO",
  "IDENTIFICATION",
  "TAX_RESIDENCY",
  "FATCA",
  "PEP",
  "DECLARATIONS_MICA",
  "IDENTITY_CHECK"
] as const

/** The five blocks that level MICA_MIFID adds. */
export const mifidBlockCodes = [
  "ACCOUNT_PURPOSE",
  "EMPLOYMENT_FINANCIAL",
  "SOURCE_OF_WEALTH",
  "APPROPRIATENESS",
  "DECLARATIONS_MIFID"
] as const

/** All twelve blocks, in the order in which partners receive them. */
export const blockCodes = [...micaBlockCodes, ...mifidBlockCodes] as const

export const BlockCode = Schema.Literals(blockCodes).annotate({ description: "Verification block" })
export type BlockCode = typeof BlockCode.Type

export const BlockStatus = Schema.Literals(["NOT_STARTED", "DRAFT", "SUBMITTED", "APPROVED", "REJECTED", "EXPIRED"])
export type BlockStatus = typeof BlockStatus.Type

export const BlockLevel = Schema.Literals(["MICA", "MICA_MIFID"])
export type BlockLevel = typeof BlockLevel.Type

/** The levels of a client; each includes the one before it. */
export const verificationLevels = ["NONE", "MICA", "MICA_MIFID"] as const
export type VerificationLevel = (typeof verificationLevels)[number]

/** The role that decided a block, never a person. */
export const BlockDecider = Schema.Literals(["PARTNER", "SYSTEM", "COMPLIANCE", "ADMIN"])
export type BlockDecider = typeof BlockDecider.Type

/** A block in the verification view; times Unix ms. `reason` is null unless REJECTED, EXPIRED or set by a decision. */
export const BlockView = Schema.Struct({
  code: BlockCode,
  level: BlockLevel,
  status: BlockStatus,
  decidedBy: Schema.NullOr(BlockDecider),
  decidedAt: Schema.NullOr(Schema.Int),
  reason: Schema.NullOr(Schema.String),
  updatedAt: Schema.NullOr(Schema.Int)
})
export type BlockView = typeof BlockView.Type

/** Statuses by block; an absent block is NOT_STARTED. */
export type BlockStatuses = Pick<ReadonlyMap<BlockCode, BlockStatus>, "get">

const mica: ReadonlySet<string> = new Set(micaBlockCodes)

/** The first level that requires a block. */
export const blockLevel = (code: BlockCode): BlockLevel => (mica.has(code) ? "MICA" : "MICA_MIFID")
