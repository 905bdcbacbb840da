/**
 * API key: issued ACTIVE, and revoked once and for ever. A revoked key gets the same answer as an unknown one (401 code
 * 4010). There is no NEW state: issuing decides nothing and enters ACTIVE directly (D17).
 */
import { setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import type { ApiKeyContext, ApiKeyEvent, ApiKeyInput } from "./ApiKey.ts"

const apiKey = setup({
  types: {
    context: {} as ApiKeyContext,
    events: {} as ApiKeyEvent,
    emitted: {} as MachineEffect,
    input: {} as ApiKeyInput
  }
})

const revoke = apiKey.assign({ revokedAt: ({ event }) => event.at, reason: ({ event }) => event.reason })

export const apiKeyMachine = apiKey.createMachine({
  id: "apiKey",
  version: "1",
  context: ({ input }) => ({ ...input, revokedAt: null, reason: null }),
  initial: "ACTIVE",
  states: {
    ACTIVE: {
      description: "The key is accepted, inside its scope and its owner's address ranges.",
      entry: apiKey.emit({ type: "audit", action: "key.issue", before: null, after: "ACTIVE", reason: null }),
      on: {
        REVOKE: {
          target: "REVOKED",
          actions: [
            revoke,
            apiKey.emit(({ event }) => ({
              type: "audit",
              action: "key.revoke",
              before: "ACTIVE",
              after: "REVOKED",
              reason: event.reason
            }))
          ]
        }
      }
    },
    REVOKED: { type: "final", description: "The key answers like an unknown one (401 code 4010)." }
  }
})
