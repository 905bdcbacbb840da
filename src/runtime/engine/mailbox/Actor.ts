/** One subject in the host: its mailbox, its committed state when loaded, and its current activity. Plain data. */
import type { Effect } from "effect"
import type { SubjectKey } from "../journal/Commit.ts"
import type { Command } from "./Command.ts"
import type { DispatchError } from "./DispatchError.ts"
import type { DryRun } from "./dryRun.ts"
import type { JournalUnavailable } from "../journal/Journal.ts"
import type { SubjectState } from "./SubjectState.ts"
import type { Written } from "./written.ts"

/** A command in a mailbox, and the caller to answer. */
export interface Envelope {
  readonly command: Command<unknown>
  readonly resume: (result: Effect.Effect<unknown, DispatchError>) => void
  /** The command is decided, but not written. */
  readonly dryRun: DryRun | null
  /** Collects the written rows; null if the answer does not list them. */
  readonly written: Written | null
  tries: number
}

export interface Actor {
  readonly subject: SubjectKey
  readonly queue: Array<Envelope>
  readonly readers: Array<(state: SubjectState | JournalUnavailable) => void>
  state: SubjectState | null
  busy: boolean
  loading: boolean
  /** The host's use counter at the time when the actor was last moved to the end of the eviction order. */
  movedAt: number
}

export const newActor = (subject: SubjectKey): Actor => ({
  subject,
  queue: [],
  readers: [],
  state: null,
  busy: false,
  loading: false,
  movedAt: 0
})
