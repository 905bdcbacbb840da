/**
 * The client's lifecycle and level, decided in one place: onboarding, compliance decisions, restrictions, closing. Two rules
 * hold in every path: KYC_PENDING and KYC_REJECTED mean level NONE, and ACTIVE means no restriction and no open case (doc 1,
 * Client lifecycle and level; D1, A1-48).
 */
import { assertEvent, setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import {
  type ClientContext,
  type ClientEvent,
  type ClientInput,
  type LifecycleState,
  withCase,
  withRestriction
} from "./Client.ts"
import type { VerificationLevel } from "../verification/Blocks.ts"

const client = setup({
  types: {
    context: {} as ClientContext,
    events: {} as ClientEvent,
    emitted: {} as MachineEffect,
    input: {} as ClientInput
  },
  guards: {
    /** True when the partner's onboarding is granted: the event grants it, and no open compliance case holds the client. */
    granted: ({ event, context }) => {
      assertEvent(event, ["ONBOARD", "REONBOARD"])
      return event.granted && context.openCases.length === 0
    },
    /** True when the event carries a case. An event without one holds no client: the notice of a hold names its case. */
    namesCase: ({ event }) => {
      assertEvent(event, ["ONBOARD", "REONBOARD"])
      return event.caseId !== null
    },
    grantedAndFree: ({ event, context }) => {
      assertEvent(event, ["ONBOARD", "REONBOARD"])
      return event.granted && context.restrictions.length === 0 && context.openCases.length === 0
    },
    approvable: ({ event, context }) => {
      assertEvent(event, "COMPLIANCE_APPROVE")
      return event.blocksApproved && context.openCases.includes(event.caseId)
    },
    approvableAndFree: ({ event, context }) => {
      assertEvent(event, "COMPLIANCE_APPROVE")
      const only = context.openCases.length === 1 && context.openCases[0] === event.caseId
      return event.blocksApproved && only && context.restrictions.length === 0
    },
    identityNotClear: ({ event }) => {
      assertEvent(event, "KYC_REVISION")
      return event.identityChanged && !event.clear
    },
    opensCase: ({ event, context }) => {
      assertEvent(event, "KYC_REVISION")
      return !event.clear && event.caseId !== null && !context.openCases.includes(event.caseId)
    },
    levelMica: ({ context }) => context.level === "MICA",
    levelMicaMifid: ({ context }) => context.level === "MICA_MIFID",
    noBlockers: ({ event }) => {
      assertEvent(event, ["REJECT_PERSON", "CLOSE"])
      return event.blockers.length === 0
    },
    notYetSet: ({ event, context }) => {
      assertEvent(event, ["RESTRICT", "MATCHED"])
      return !context.restrictions.includes(event.restriction)
    },
    freezesAnew: ({ event, context }) => {
      assertEvent(event, "MATCHED")
      return event.restriction === "FROZEN" && !context.restrictions.includes("FROZEN")
    },
    bringsCase: ({ event }) => {
      assertEvent(event, "MATCHED")
      return event.caseId !== null
    },
    isSet: ({ event, context }) => {
      assertEvent(event, "LIFT")
      return context.restrictions.includes(event.restriction)
    },
    isLastHold: ({ event, context }) => {
      assertEvent(event, "LIFT")
      const only = context.restrictions.length === 1 && context.restrictions[0] === event.restriction
      return only && context.openCases.length === 0
    },
    isOpenCase: ({ event, context }) => {
      assertEvent(event, "COMPLIANCE_CLEAR")
      return context.openCases.includes(event.caseId)
    },
    isLastCase: ({ event, context }) => {
      assertEvent(event, "COMPLIANCE_CLEAR")
      const only = context.openCases.length === 1 && context.openCases[0] === event.caseId
      return only && context.restrictions.length === 0
    }
  }
})

const toLevel = (level: VerificationLevel) => client.assign({ level })

/** Adds the event's case to those that hold the client. */
const openCase = client.assign({
  openCases: ({ context, event }) => ("caseId" in event ? withCase(context.openCases, event.caseId) : context.openCases)
})

/** Removes the case of the event, because compliance has closed it. */
const disposeCase = client.assign({
  openCases: ({ context, event }) =>
    "caseId" in event ? context.openCases.filter((caseId) => caseId !== event.caseId) : context.openCases
})

/** Compliance has refused the client as a whole, so no case stays open. */
const disposeAllCases = client.assign({ openCases: [] })

const setRestriction = client.assign({
  restrictions: ({ context, event }) => {
    assertEvent(event, ["RESTRICT", "MATCHED"])
    return withRestriction(context.restrictions, event.restriction)
  }
})

const liftRestriction = client.assign({
  restrictions: ({ context, event }) => {
    assertEvent(event, "LIFT")
    return context.restrictions.filter((restriction) => restriction !== event.restriction)
  }
})

const note = (action: string, before: LifecycleState | null, after: LifecycleState) =>
  client.emit(({ event }) => ({
    type: "audit",
    action,
    before,
    after,
    reason: "reason" in event ? event.reason : null
  }))

/** Writes the audit row like `note`, with the restrictions after the change: the state RESTRICTED does not name them. */
const noteRestrictions = (action: string, before: LifecycleState, after: LifecycleState) =>
  client.emit(({ event, context }) => ({
    type: "audit",
    action,
    before,
    after: [after, ...context.restrictions].join(" "),
    reason: "reason" in event ? event.reason : null
  }))

const notifyDecision = client.emit(({ context }) => ({
  type: "notify",
  kind: "VERIFICATION_DECISION",
  ref: String(context.clientId)
}))

/** Notifies the client's feed of a named restriction. The hold of a case is notified as the case's decision instead. */
const notifyRestriction = (kind: "RESTRICTION_SET" | "RESTRICTION_LIFTED") =>
  client.emit(({ event, context }) => ({
    type: "notify",
    kind,
    ref: "restriction" in event ? event.restriction : String(context.clientId)
  }))

/**
 * Moves MICA on to MICA_MIFID, with its event, when the MiFID blocks and the assessment are both complete. Runs in the commit
 * of every grant of level MICA, and for MIFID_COMPLETE.
 */
const goOnToMifid = client.enqueueActions(({ event, enqueue }) => {
  assertEvent(event, ["ONBOARD", "REONBOARD", "COMPLIANCE_APPROVE", "MIFID_COMPLETE"])
  const ready = event.type === "MIFID_COMPLETE" || event.mifidReady
  if (!ready || event.appropriateness === null) return
  const { version, outcome, score, attempt } = event.appropriateness
  enqueue(toLevel("MICA_MIFID"))
  enqueue.emit({
    type: "event",
    name: "client.level_changed",
    data: { from: "MICA", to: "MICA_MIFID", appropriateness: { version, outcome, score, attempt } }
  })
  enqueue.emit({ type: "audit", action: "client.level", before: "MICA", after: "MICA_MIFID", reason: null })
})

const publishOnboarded = (lifecycleState: LifecycleState) =>
  client.emit(({ event }) => {
    assertEvent(event, ["ONBOARD", "REONBOARD"])
    return {
      type: "event",
      name: "client.onboarded",
      data: { verificationLevel: "MICA", lifecycleState, kycPackageId: event.kycPackageId }
    }
  })

/** Writes the audit row of a grant, with the reason text that the specification fixes. */
const noteOnboarded = (action: string, before: LifecycleState | null, after: LifecycleState) =>
  client.emit({ type: "audit", action, before, after, reason: "reliance onboarding" })

const publishReview = client.emit(({ event }) => {
  assertEvent(event, ["ONBOARD", "REONBOARD", "KYC_REVISION"])
  return {
    type: "event",
    name: "client.review_required",
    data: { reason: event.reason, kycPackageId: event.kycPackageId, caseId: event.caseId }
  }
})

const publishRejected = client.emit(({ event }) => {
  assertEvent(event, "REJECT_RELIANCE")
  return {
    type: "event",
    name: "kyc.rejected",
    data: {
      kycPackageId: event.kycPackageId,
      revision: event.revision,
      reason: event.reason,
      verificationLevel: "NONE",
      lifecycleState: "KYC_PENDING"
    }
  }
})

const rejectReliance = (from: LifecycleState) =>
  ({
    target: "KYC_PENDING",
    actions: [toLevel("NONE"), disposeAllCases, publishRejected, note("client.rejectReliance", from, "KYC_PENDING")]
  }) as const

/** Rejects the person for good. The notification is the partner's only message about the rejection. */
const rejectPerson = (from: LifecycleState) =>
  ({
    guard: "noBlockers",
    target: "KYC_REJECTED",
    actions: [toLevel("NONE"), disposeAllCases, notifyDecision, note("client.rejectPerson", from, "KYC_REJECTED")]
  }) as const

const close = (from: LifecycleState) =>
  ({ guard: "noBlockers", target: "CLOSED", actions: [disposeAllCases, note("client.close", from, "CLOSED")] }) as const

const restrict = (from: LifecycleState, after: LifecycleState) => [
  setRestriction,
  notifyRestriction("RESTRICTION_SET"),
  noteRestrictions("client.restrict", from, after)
]

const lift = (from: LifecycleState, after: LifecycleState) => [
  liftRestriction,
  notifyRestriction("RESTRICTION_LIFTED"),
  noteRestrictions("client.lift", from, after)
]

/** Transitions for a revision by a client that is held already. The state stays, so only a new case is published. */
const heldRevision = (state: "KYC_PENDING" | "RESTRICTED") =>
  [
    { guard: "opensCase", actions: [openCase, publishReview, note("client.kycRevision", state, state)] },
    { actions: note("client.kycRevision", state, state) }
  ] as const

/** Transitions for a match of a client that is held already: the match adds a case, and only a new restriction is published. */
const heldMatch = (state: "KYC_PENDING" | "RESTRICTED", guard: "freezesAnew" | "notYetSet") =>
  [
    { guard, actions: [openCase, ...restrict(state, state)] },
    { guard: "bringsCase", actions: [openCase, note("client.matched", state, state)] }
  ] as const

const mifidComplete = { guard: "levelMica", actions: goOnToMifid } as const

const downgrade = {
  guard: "levelMicaMifid",
  actions: [
    toLevel("MICA"),
    notifyDecision,
    client.emit(({ event }) => ({
      type: "audit",
      action: "client.downgrade",
      before: "MICA_MIFID",
      after: "MICA",
      reason: "reason" in event ? event.reason : null
    }))
  ]
} as const

const reonboarded = (after: "ACTIVE" | "RESTRICTED") => [
  toLevel("MICA"),
  publishOnboarded(after),
  noteOnboarded("client.reonboard", "KYC_PENDING", after),
  goOnToMifid
]

const approved = (after: "ACTIVE" | "RESTRICTED") => [
  toLevel("MICA"),
  disposeCase,
  notifyDecision,
  note("client.approve", "KYC_PENDING", after),
  goOnToMifid
]

export const clientMachine = client.createMachine({
  id: "client",
  version: "2",
  context: ({ input }) => ({ ...input, level: "NONE", restrictions: [], openCases: [] }),
  initial: "NEW",
  states: {
    NEW: {
      description: "Not stored: the onboarding request is being decided.",
      on: {
        ONBOARD: [
          {
            guard: "granted",
            target: "ACTIVE",
            actions: [
              toLevel("MICA"),
              publishOnboarded("ACTIVE"),
              noteOnboarded("client.onboard", null, "ACTIVE"),
              goOnToMifid
            ]
          },
          { target: "KYC_PENDING", actions: [openCase, publishReview, note("client.onboard", null, "KYC_PENDING")] }
        ]
      }
    },
    KYC_PENDING: {
      description:
        "Held for review at level NONE: compliance decides, or the partner onboards again after a rejection.",
      on: {
        COMPLIANCE_APPROVE: [
          { guard: "approvableAndFree", target: "ACTIVE", actions: approved("ACTIVE") },
          { guard: "approvable", target: "RESTRICTED", actions: approved("RESTRICTED") }
        ],
        REONBOARD: [
          { guard: "grantedAndFree", target: "ACTIVE", actions: reonboarded("ACTIVE") },
          { guard: "granted", target: "RESTRICTED", actions: reonboarded("RESTRICTED") },
          {
            guard: "namesCase",
            actions: [openCase, publishReview, note("client.reonboard", "KYC_PENDING", "KYC_PENDING")]
          }
        ],
        KYC_REVISION: heldRevision("KYC_PENDING"),
        REJECT_RELIANCE: rejectReliance("KYC_PENDING"),
        REJECT_PERSON: rejectPerson("KYC_PENDING"),
        RESTRICT: { guard: "notYetSet", actions: restrict("KYC_PENDING", "KYC_PENDING") },
        MATCHED: heldMatch("KYC_PENDING", "freezesAnew"),
        LIFT: { guard: "isSet", actions: lift("KYC_PENDING", "KYC_PENDING") },
        CLOSE: close("KYC_PENDING")
      }
    },
    ACTIVE: {
      description: "Normal service at level MICA or MICA_MIFID.",
      on: {
        KYC_REVISION: [
          {
            guard: "identityNotClear",
            target: "RESTRICTED",
            actions: [openCase, publishReview, note("client.kycRevision", "ACTIVE", "RESTRICTED")]
          },
          { actions: note("client.kycRevision", "ACTIVE", "ACTIVE") }
        ],
        MIFID_COMPLETE: mifidComplete,
        REJECT_RELIANCE: rejectReliance("ACTIVE"),
        RESTRICT: { target: "RESTRICTED", actions: restrict("ACTIVE", "RESTRICTED") },
        MATCHED: { target: "RESTRICTED", actions: [openCase, ...restrict("ACTIVE", "RESTRICTED")] },
        DOWNGRADE: downgrade,
        CLOSE: close("ACTIVE")
      }
    },
    RESTRICTED: {
      description: "A review or a restriction is open: opening new risk is refused, closing risk is not.",
      on: {
        KYC_REVISION: heldRevision("RESTRICTED"),
        MIFID_COMPLETE: mifidComplete,
        COMPLIANCE_CLEAR: [
          {
            guard: "isLastCase",
            target: "ACTIVE",
            actions: [disposeCase, notifyDecision, note("client.clear", "RESTRICTED", "ACTIVE")]
          },
          {
            guard: "isOpenCase",
            actions: [disposeCase, notifyDecision, note("client.clear", "RESTRICTED", "RESTRICTED")]
          }
        ],
        REJECT_RELIANCE: rejectReliance("RESTRICTED"),
        REJECT_PERSON: rejectPerson("RESTRICTED"),
        RESTRICT: { guard: "notYetSet", actions: restrict("RESTRICTED", "RESTRICTED") },
        MATCHED: heldMatch("RESTRICTED", "notYetSet"),
        LIFT: [
          { guard: "isLastHold", target: "ACTIVE", actions: lift("RESTRICTED", "ACTIVE") },
          { guard: "isSet", actions: lift("RESTRICTED", "RESTRICTED") }
        ],
        DOWNGRADE: downgrade,
        CLOSE: close("RESTRICTED")
      }
    },
    KYC_REJECTED: {
      description: "Compliance refused the person for good; only compliance can reopen.",
      on: {
        REOPEN: { target: "KYC_PENDING", actions: [openCase, note("client.reopen", "KYC_REJECTED", "KYC_PENDING")] },
        CLOSE: close("KYC_REJECTED")
      }
    },
    CLOSED: { type: "final", description: "Closed for good after a zero check: every write answers 409 code 4092." }
  }
})
