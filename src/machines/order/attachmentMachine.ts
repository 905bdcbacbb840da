/**
 * The protection of an order. The machine keeps the state of the parent and its legs; `protectionPlan.ts` derives the next
 * step, and `services/trading/order/protection.ts` runs it in the client's turn. A fired or closed protection stays live
 * while its parent works, because later fills get a new round (D7).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import {
  type AttachmentContext,
  type AttachmentEvent,
  type AttachmentInput,
  firstStanding,
  isLive
} from "./Attachment.ts"

const attachment = setup({
  types: {
    context: {} as AttachmentContext,
    events: {} as AttachmentEvent,
    emitted: {} as MachineEffect,
    input: {} as AttachmentInput
  }
})

const note = (action: string, after: string) =>
  attachment.emit({ type: "audit", action, before: null, after, reason: null })
const stands = attachment.assign(({ context, event: { standing, at } }) => ({
  standing,
  live: isLive(standing),
  unplacedSince: standing.unplaced.length === 0 ? null : (context.unplacedSince ?? at),
  updatedAt: at
}))

const place = { target: "PLACING", actions: [stands, note("attachment.place", "PLACING")] } as const
const fire = { target: "FIRED", actions: [stands, note("attachment.fire", "FIRED")] } as const
const close = { target: "CLOSED", actions: [stands, note("attachment.close", "CLOSED")] } as const
const follow = { actions: stands } as const

export const attachmentMachine = attachment.createMachine({
  id: "attachment",
  version: "2",
  context: ({ input }) => ({ ...input, standing: firstStanding, live: true, unplacedSince: null }),
  initial: "ARMED",
  states: {
    ARMED: {
      description: "Its parent works, and has no fill to protect yet.",
      on: { PLACE: place, FIRE: fire, CLOSE: close, FOLLOW: follow }
    },
    PLACING: {
      description: "Its legs are on their way to the venue.",
      on: { STAND: { target: "ACTIVE", actions: stands }, FIRE: fire, CLOSE: close, FOLLOW: follow }
    },
    ACTIVE: {
      description:
        "Its legs wait at the venue for their levels, and follow what the parent fills. A refused one is placed again.",
      on: { FIRE: fire, CLOSE: close, FOLLOW: follow }
    },
    FIRED: {
      description: "A leg has traded or goes to the market; the other and the parent's rest are being cancelled.",
      on: { PLACE: place, FIRE: fire, CLOSE: close, FOLLOW: follow }
    },
    CLOSED: {
      description: "Nothing is protected any more; a later fill of the parent gets new legs.",
      on: { PLACE: place, FIRE: fire, FOLLOW: follow }
    }
  }
})
