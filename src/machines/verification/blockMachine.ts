/**
 * Verification block. Only the assessment writes APPROPRIATENESS: neither the partner nor compliance can approve it, because
 * that would overwrite a failed test. Partner writes emit no audit row: the KYC package's row of the same commit records
 * them, and twelve more rows would add nothing (doc 1, Block statuses, Appropriateness; D3).
 */
import { assertEvent, setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import { type BlockContext, type BlockEvent, type BlockInput, expiringBlocks } from "./Block.ts"
import type { BlockStatus } from "./Blocks.ts"

const block = setup({
  types: {
    context: {} as BlockContext,
    events: {} as BlockEvent,
    emitted: {} as MachineEffect,
    input: {} as BlockInput
  },
  guards: {
    ordinary: ({ context }) => context.code !== "APPROPRIATENESS",
    appropriateness: ({ context }) => context.code === "APPROPRIATENESS",
    passed: ({ event, context }) => {
      assertEvent(event, "ASSESSED")
      return context.code === "APPROPRIATENESS" && event.outcome === "PASS"
    },
    warnPending: ({ context }) => context.code === "APPROPRIATENESS" && context.reason === "WARN",
    documentPast: ({ event, context }) => {
      assertEvent(event, "EXPIRE")
      return expiringBlocks.includes(context.code) && event.expiresOn < event.today
    }
  }
})

const touch = block.assign({ updatedAt: ({ event }) => event.at })

const decidedByPartner = block.assign({
  decidedBy: "PARTNER",
  decidedAt: ({ event }) => event.at,
  reason: null,
  updatedAt: ({ event }) => event.at
})

/** Records who decided and when: the role in the event, or SYSTEM when the event names none. */
const decided = block.assign({
  decidedBy: ({ event }) => ("by" in event ? event.by : "SYSTEM"),
  decidedAt: ({ event }) => event.at,
  reason: ({ event }) => ("reason" in event ? event.reason : null),
  updatedAt: ({ event }) => event.at
})

const scored = block.assign({
  decidedBy: "SYSTEM",
  decidedAt: ({ event }) => event.at,
  reason: ({ event }) => (event.type === "ASSESSED" ? event.outcome : null),
  updatedAt: ({ event }) => event.at
})

const expired = block.assign({
  decidedBy: "SYSTEM",
  decidedAt: ({ event }) => event.at,
  reason: "The identity document has passed its expiration date.",
  updatedAt: ({ event }) => event.at
})

const note = (action: string, before: BlockStatus, after: BlockStatus) =>
  block.emit(({ context }) => ({
    type: "audit",
    action,
    before: `${context.code} ${before}`,
    after: `${context.code} ${after}`,
    reason: context.reason
  }))

const partnerWrite = { guard: "ordinary", target: "APPROVED", actions: decidedByPartner } as const

/**
 * Rejects the block from every state. No audit row of its own: the client's row records that all twelve blocks were
 * rejected.
 */
const rejectReliance = { target: "REJECTED", actions: decided } as const

const reject = (from: BlockStatus) =>
  ({ target: "REJECTED", actions: [decided, note("block.reject", from, "REJECTED")] }) as const

const assessed = (from: BlockStatus) =>
  [
    { guard: "passed", target: "APPROVED", actions: [decided, note("block.assessed", from, "APPROVED")] },
    {
      guard: "appropriateness",
      target: "SUBMITTED",
      actions: [scored, note("block.assessed", from, "SUBMITTED")]
    }
  ] as const

export const blockMachine = block.createMachine({
  id: "verificationBlock",
  version: "1",
  context: ({ input }) => ({ ...input, decidedBy: null, decidedAt: null, reason: null, updatedAt: null }),
  initial: "NOT_STARTED",
  states: {
    NOT_STARTED: {
      description: "Nothing has been given for this block.",
      on: {
        PARTNER_WRITE: partnerWrite,
        DRAFT: { guard: "ordinary", target: "DRAFT", actions: touch },
        ASSESSED: assessed("NOT_STARTED"),
        REJECT_RELIANCE: rejectReliance
      }
    },
    DRAFT: {
      description: "A direct client has begun to fill it in; partners never leave a draft (A1-46).",
      on: { SUBMIT: { target: "SUBMITTED", actions: touch }, REJECT_RELIANCE: rejectReliance }
    },
    SUBMITTED: {
      description:
        "Given, not approved: a direct client's block before its decision, or a test failed or to be acknowledged.",
      on: {
        APPROVE: {
          guard: "ordinary",
          target: "APPROVED",
          actions: [decided, note("block.approve", "SUBMITTED", "APPROVED")]
        },
        REJECT: reject("SUBMITTED"),
        ASSESSED: assessed("SUBMITTED"),
        ACKNOWLEDGED: {
          guard: "warnPending",
          target: "APPROVED",
          actions: [decided, note("block.acknowledged", "SUBMITTED", "APPROVED")]
        },
        REJECT_RELIANCE: rejectReliance
      }
    },
    APPROVED: {
      description: "Counts for the level and for the gates.",
      on: {
        PARTNER_WRITE: { guard: "ordinary", actions: touch },
        REJECT: reject("APPROVED"),
        EXPIRE: {
          guard: "documentPast",
          target: "EXPIRED",
          actions: [
            expired,
            block.emit(({ context }) => ({ type: "notify", kind: "VERIFICATION_DECISION", ref: context.code })),
            note("block.expire", "APPROVED", "EXPIRED")
          ]
        },
        DOWNGRADED: {
          guard: "appropriateness",
          target: "EXPIRED",
          actions: [decided, note("block.downgraded", "APPROVED", "EXPIRED")]
        },
        REJECT_RELIANCE: rejectReliance
      }
    },
    REJECTED: {
      description: "Refused by compliance; a revision, a re-onboarding or a new test can approve it.",
      on: { PARTNER_WRITE: partnerWrite, ASSESSED: assessed("REJECTED"), REJECT_RELIANCE: rejectReliance }
    },
    EXPIRED: {
      description: "The identity document has passed its date, or the level was taken back: it must be given again.",
      on: { PARTNER_WRITE: partnerWrite, ASSESSED: assessed("EXPIRED"), REJECT_RELIANCE: rejectReliance }
    }
  }
})
