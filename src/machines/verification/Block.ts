/**
 * One of a client's twelve verification blocks: the deciding role, the time and the reason. The answers are encrypted rows
 * beside the machine (doc 1, Block statuses, Verification view; D3, A1-45, A1-46).
 */
import type { BlockCode, BlockDecider } from "./Blocks.ts"

/** The role that decided, which partners read; never a person's name. */
export type RoleLabel = BlockDecider

export interface BlockInput {
  readonly code: BlockCode
}

export interface BlockContext extends BlockInput {
  readonly decidedBy: RoleLabel | null
  readonly decidedAt: number | null
  /** While REJECTED or EXPIRED, the reason; while APPROPRIATENESS waits, the assessment's outcome; otherwise null. */
  readonly reason: string | null
  readonly updatedAt: number | null
}

export type BlockEvent =
  /** The partner wrote valid data: SUBMITTED and APPROVED in one step, decided by the partner. */
  | { readonly type: "PARTNER_WRITE"; readonly at: number }
  | { readonly type: "DRAFT"; readonly at: number }
  | { readonly type: "SUBMIT"; readonly at: number }
  | { readonly type: "APPROVE"; readonly at: number; readonly by: RoleLabel }
  | { readonly type: "REJECT"; readonly at: number; readonly by: RoleLabel; readonly reason: string }
  | { readonly type: "REJECT_RELIANCE"; readonly at: number; readonly by: RoleLabel; readonly reason: string }
  /** Calendar dates YYYY-MM-DD: the last valid day of the document, and today in UTC. */
  | { readonly type: "EXPIRE"; readonly at: number; readonly expiresOn: string; readonly today: string }
  | { readonly type: "ASSESSED"; readonly at: number; readonly outcome: "PASS" | "WARN" | "FAIL" }
  | { readonly type: "ACKNOWLEDGED"; readonly at: number }
  | { readonly type: "DOWNGRADED"; readonly at: number; readonly by: RoleLabel; readonly reason: string }

/** The two blocks that depend on an identity document and expire with it. */
export const expiringBlocks: ReadonlyArray<BlockCode> = ["IDENTIFICATION", "IDENTITY_CHECK"]
