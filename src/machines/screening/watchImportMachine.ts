/**
 * Import of a list version. Added entries count at once. No entry is removed before the whole file is received, so an
 * interrupted import never loses an entry. Each source has one DONE import: its current version (operator surface, screening
 * import; F26).
 */
import { assertEvent, setup } from "xstate"
import type { MachineEffect } from "../Effects.ts"
import {
  type FileReport,
  type WatchImportContext,
  type WatchImportEvent,
  type WatchImportInput,
  type WatchImportState,
  wholeReport
} from "./WatchImport.ts"
import { plural } from "../shared/Text.ts"

/** True if all announced entries have arrived and the file's hash is the announced one. */
const isWhole = ({ received, count, chain, hash }: WatchImportContext): boolean => received === count && chain === hash

/** The audit text about entries and values of the file that are not on the list; empty if all are. */
const leftOut = ({ notPersons, badLines, unread, unreadAt }: FileReport): string => {
  const more = unread > unreadAt.length ? [`and ${unread - unreadAt.length} more`] : []
  return [
    notPersons === 0 ? "" : `; no persons: ${notPersons}`,
    badLines.length === 0 ? "" : `; without a readable name: ${badLines.join(", ")}`,
    unread === 0 ? "" : `; unreadable, so unknown: ${[...unreadAt, ...more].join("; ")}`
  ].join("")
}

const watchImport = setup({
  types: {
    context: {} as WatchImportContext,
    events: {} as WatchImportEvent,
    emitted: {} as MachineEffect,
    input: {} as WatchImportInput
  },
  guards: {
    nextPiece: ({ event, context }) => {
      assertEvent(event, "ENTRIES")
      const end = event.offset + event.added + event.kept
      return event.offset === context.received && end > event.offset && end <= context.count
    },
    wholeLast: ({ event, context }) => {
      assertEvent(event, "REMOVE")
      return isWhole(context) && event.last
    },
    whole: ({ event, context }) => {
      assertEvent(event, "REMOVE")
      return isWhole(context) && !event.last
    },
    last: ({ event }) => {
      assertEvent(event, "REMOVE")
      return event.last
    }
  }
})

const taken = watchImport.assign(({ context, event }) => {
  assertEvent(event, "ENTRIES")
  return {
    received: context.received + event.added + event.kept,
    chain: event.chain,
    added: context.added + event.added,
    kept: context.kept + event.kept
  }
})

const removed = watchImport.assign(({ context, event }) => {
  assertEvent(event, "REMOVE")
  return { removed: context.removed + event.removed, endedAt: event.last ? event.at : null }
})

const ended = watchImport.assign({ endedAt: ({ event }) => event.at })

const finish = (before: WatchImportState) => [
  removed,
  watchImport.emit(({ context: { source, sourceVersion, added, kept, removed: gone } }) => ({
    type: "audit",
    action: "screening.import.finish",
    before,
    after: "DONE",
    reason: `${source} ${sourceVersion}: ${added} added, ${kept} kept, ${gone} removed`
  }))
]

const supersede = (action: string, before: WatchImportState, after: WatchImportState) =>
  watchImport.emit(({ context: { source, sourceVersion }, event }) => {
    assertEvent(event, "SUPERSEDE")
    return { type: "audit", action, before, after, reason: `${source} ${sourceVersion}: ${source} ${event.by} instead` }
  })

const abandon = (before: WatchImportState) =>
  ({
    target: "ABANDONED",
    actions: [ended, supersede("screening.import.abandon", before, "ABANDONED")]
  }) as const

export const watchImportMachine = watchImport.createMachine({
  id: "watchImport",
  version: "2",
  context: ({ input }) => ({
    report: wholeReport,
    ...input,
    received: 0,
    chain: "",
    added: 0,
    kept: 0,
    removed: 0,
    endedAt: null
  }),
  initial: "OPEN",
  states: {
    OPEN: {
      description: "Entries arrive piece by piece and count at once.",
      entry: watchImport.emit(({ context: { source, sourceVersion, count, report } }) => ({
        type: "audit",
        action: "screening.import.begin",
        before: null,
        after: "OPEN",
        reason: `${source} ${sourceVersion}: ${plural(count, "entry")}${leftOut(report)}`
      })),
      on: {
        ENTRIES: { guard: "nextPiece", actions: taken },
        REMOVE: [
          { guard: "wholeLast", target: "DONE", actions: finish("OPEN") },
          { guard: "whole", target: "REMOVING", actions: removed }
        ],
        SUPERSEDE: abandon("OPEN")
      }
    },
    REMOVING: {
      description: "All entries are in; those that this version no longer names come off in pieces.",
      on: {
        REMOVE: [{ guard: "last", target: "DONE", actions: finish("REMOVING") }, { actions: removed }],
        SUPERSEDE: abandon("REMOVING")
      }
    },
    DONE: {
      description: "The current version of its source.",
      on: {
        SUPERSEDE: {
          target: "REPLACED",
          actions: supersede("screening.import.replace", "DONE", "REPLACED")
        }
      }
    },
    REPLACED: { type: "final", description: "A later version of the source is current." },
    ABANDONED: { type: "final", description: "Another import of the source began before this one was done." }
  }
})
