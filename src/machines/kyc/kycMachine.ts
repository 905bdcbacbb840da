/**
 * Review of the latest KYC package. Each partner write stores the next revision; a pending review stays pending until
 * compliance decides. The client machine takes the same event in the same commit and applies the consequences of a rejection
 * (doc 1, KYC package statuses; D2, A1-32, A1-34).
 */
import { assertEvent, setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import {
  type KycPackageContext,
  type KycPackageEvent,
  type KycPackageInput,
  type KycPackageStatus,
  personRefusedNote
} from "./KycPackage.ts"

const kyc = setup({
  types: {
    context: {} as KycPackageContext,
    events: {} as KycPackageEvent,
    emitted: {} as MachineEffect,
    input: {} as KycPackageInput
  },
  guards: {
    granted: ({ event }) => {
      assertEvent(event, ["STORE", "REONBOARD"])
      return event.granted
    },
    identityNotClear: ({ event }) => {
      assertEvent(event, "REVISE")
      return event.identityChanged && !event.clear
    },
    relianceStands: ({ event }) => {
      assertEvent(event, "REOPEN")
      return !event.relianceRejected
    },
    hasNote: ({ event }) => {
      assertEvent(event, ["REQUEST_DOCUMENTS", "REJECT_RELIANCE"])
      return event.note.length > 0
    }
  }
})

/** Replaces the package by the new revision, and clears the result of the last review. */
const nextRevision = kyc.assign({
  kycPackageId: ({ event, context }) => ("kycPackageId" in event ? event.kycPackageId : context.kycPackageId),
  revision: ({ event, context }) => ("revision" in event ? event.revision : context.revision),
  reviewedBy: null,
  reviewedAt: null,
  reviewNote: null
})

const reviewed = kyc.assign({
  reviewedBy: ({ event }) => ("by" in event ? event.by : null),
  reviewedAt: ({ event }) => event.at,
  reviewNote: ({ event }) => ("note" in event ? event.note : null)
})

const reviewAgain = kyc.assign({ reviewedBy: null, reviewedAt: null, reviewNote: null })

const refused = kyc.assign({
  reviewedBy: ({ event }) => ("by" in event ? event.by : null),
  reviewedAt: ({ event }) => event.at,
  reviewNote: personRefusedNote
})

const note = (action: string, before: KycPackageStatus | null, after: KycPackageStatus) =>
  kyc.emit(({ event }) => ({
    type: "audit",
    action,
    before,
    after,
    reason: "note" in event ? event.note : null
  }))

const publishDocuments = kyc.emit(({ event, context }) => {
  assertEvent(event, "REQUEST_DOCUMENTS")
  return {
    type: "event",
    name: "kyc.documents_requested",
    data: { kycPackageId: context.kycPackageId, revision: context.revision, note: event.note }
  }
})

const accept = (from: KycPackageStatus) =>
  ({ target: "ACCEPTED", actions: [reviewed, note("kyc.accept", from, "ACCEPTED")] }) as const

const requestDocuments = (from: KycPackageStatus) =>
  ({
    guard: "hasNote",
    target: "DOCUMENTS_REQUESTED",
    actions: [reviewed, publishDocuments, note("kyc.requestDocuments", from, "DOCUMENTS_REQUESTED")]
  }) as const

const rejectReliance = (from: KycPackageStatus) =>
  ({ guard: "hasNote", target: "REJECTED", actions: [reviewed, note("kyc.rejectReliance", from, "REJECTED")] }) as const

const rejectPerson = (from: KycPackageStatus) =>
  ({ target: "REJECTED", actions: [refused, note("kyc.rejectPerson", from, "REJECTED")] }) as const

/** The transition of a revision while a review is open: the review continues with the new revision. */
const revisePending = (from: KycPackageStatus) =>
  ({ target: "SPOT_CHECK", actions: [nextRevision, note("kyc.revise", from, "SPOT_CHECK")] }) as const

const written = <To extends KycPackageStatus>(action: string, from: KycPackageStatus | null, target: To) => ({
  target,
  actions: [nextRevision, note(action, from, target)]
})

export const kycMachine = kyc.createMachine({
  id: "kycPackage",
  version: "2",
  context: ({ input }) => ({ ...input, reviewedBy: null, reviewedAt: null, reviewNote: null }),
  initial: "NEW",
  states: {
    NEW: {
      description: "Not stored: the first revision arrives with the grant's verdict.",
      on: {
        STORE: [
          { guard: "granted", ...written("kyc.store", null, "ACCEPTED") },
          written("kyc.store", null, "SPOT_CHECK")
        ]
      }
    },
    ACCEPTED: {
      description: "The package is relied upon.",
      on: {
        REVISE: [
          { guard: "identityNotClear", ...written("kyc.revise", "ACCEPTED", "SPOT_CHECK") },
          { actions: [nextRevision, note("kyc.revise", "ACCEPTED", "ACCEPTED")] }
        ],
        SAMPLE: { target: "SPOT_CHECK", actions: [reviewAgain, note("kyc.sample", "ACCEPTED", "SPOT_CHECK")] },
        REQUEST_DOCUMENTS: requestDocuments("ACCEPTED"),
        REJECT_RELIANCE: rejectReliance("ACCEPTED"),
        REJECT_PERSON: rejectPerson("ACCEPTED")
      }
    },
    SPOT_CHECK: {
      description: "Under review by compliance.",
      on: {
        ACCEPT: accept("SPOT_CHECK"),
        REQUEST_DOCUMENTS: requestDocuments("SPOT_CHECK"),
        REVISE: { actions: [nextRevision, note("kyc.revise", "SPOT_CHECK", "SPOT_CHECK")] },
        REJECT_RELIANCE: rejectReliance("SPOT_CHECK"),
        REJECT_PERSON: rejectPerson("SPOT_CHECK")
      }
    },
    DOCUMENTS_REQUESTED: {
      description: "Underlying documents are needed; the review note names them.",
      on: {
        DOCUMENT_UPLOADED: {
          actions: note("kyc.documentUploaded", "DOCUMENTS_REQUESTED", "DOCUMENTS_REQUESTED")
        },
        REVISE: revisePending("DOCUMENTS_REQUESTED"),
        ACCEPT: accept("DOCUMENTS_REQUESTED"),
        REJECT_RELIANCE: rejectReliance("DOCUMENTS_REQUESTED"),
        REJECT_PERSON: rejectPerson("DOCUMENTS_REQUESTED")
      }
    },
    REJECTED: {
      description:
        "Reliance on this package, or the person, is refused; the review note says which. Re-onboarding leaves it, and the reopening of a person refused without it.",
      on: {
        REOPEN: {
          guard: "relianceStands",
          target: "SPOT_CHECK",
          actions: [reviewAgain, note("kyc.reopen", "REJECTED", "SPOT_CHECK")]
        },
        REONBOARD: [
          { guard: "granted", ...written("kyc.reonboard", "REJECTED", "ACCEPTED") },
          written("kyc.reonboard", "REJECTED", "SPOT_CHECK")
        ]
      }
    }
  }
})
